"""How the product speaks, as far as code can check it: each rule finds what it forbids, and says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.messages.templates import PACKAGE, ROOT, Template

# rooms whose titles follow VS Code's own commands: capitals in every word
IN_TITLE_CASE = ("vscode-client",)
NAMES = r"Compile Lens|Hugging Face|VS Code|Visual Studio(?: Code)?|Workspace Trust|Language Server Protocol"
CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`|<!--.*?-->|\]\([^)\s]*\)|https?://\S+|\S+/\S+\.(?:md|py)", re.S)

# stems that take "-ize" in American spelling
IZE = (
    "categor|custom|final|general|initial|maxim|memor|material|minim|normal|optim|organ|parallel|priorit|quant|real|recogn|serial"
    "|special|standard|summar|synchron|token|unparallel|util|vector|visual"
)
BRITISH = (
    rf"\b\w*(?:{IZE})is(?:e[drs]?|ing|ations?)\b|\b\w*analys(?:e[dr]?|ing)\b|synthesis(?:e[ds]?|ing)\b"
    r"|\b\w*(?:colou|behaviou|neighbou|favou|honou|flavou|labou)r\w*|\bcatalogue\w*|\bcentre[ds]?\b|\bgrey\b|\blicence\b"
    r"|\bartefact\w*|\bwhilst\b|\bjudgement\w*|\b(?:cancel|label|model|signal|travel)l(?:ed|ing)\b|\bfulfil\b|\blearnt\b|\bset-up\b"
)
METAPHORS = (
    r"nobody's business|\b(?:go|goes|went) with the run|\b(?:is|are|was) waited for|\btook the way|\bgave up on|\bmeets?\b"
    r"|\bstands? in\b|\bstands?\b|\bforetells?\b|\bamiss\b|\blets nothing\b|\bwent well\b|\bis told\b|\bwas told\b"
    r"|\bsaid (?:so|nothing)\b|\bgo(?:es|ing) on\b|\bhand(?:s|ed) to\b|\b(?:an)?other \w+ than\b|\bany more\b|\bwants?\b|\bnobody\b"
)
# a value that is a number, by its name, before a plural
NUMBER = r"\{(?:number of [^}]*|(?:\w+_)?(?:count|number|more|left|left_out|hidden|nodes|n))\}"
COUNTED = re.compile(rf"(?<!at least ){NUMBER} (?!bytes|million|times)(?:[a-z]+ )?[a-z]+[^s\W]s\b(?! of\b)")
ONE_OF_MANY = re.compile(
    r"(?<![\w.\-/])1 (?:more )?(?:graph|node|file|finding|time|line|value|call|op|break|step|kernel|recompile|column)s\b"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """``find`` gives what is wrong in a template with its example; ``pages``: the rule holds for prose in pages, too."""

    name: str
    instead: str
    find: Callable[[Template, str], Iterator[str]]
    pages: bool = False


def _words(pattern: str) -> Callable[[Template, str], Iterator[str]]:
    """Finds words outside of code."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def find(template: Template, _: str) -> Iterator[str]:
        yield from (found[0] for found in compiled.finditer(CODE.sub(" ", template.literal)))

    return find


def _plural(template: Template, example: str) -> Iterator[str]:
    """``{count} graphs`` says "1 graphs"; "times" is mostly said of two at least, so there only an example counts."""
    yield from (found[0] for found in COUNTED.finditer(template.text))
    yield from (found[0] for found in ONE_OF_MANY.finditer(example))


def _distance(_: Template, example: str) -> Iterator[str]:
    yield from (found[0] for found in re.finditer(r"(?:by|up to) (?:nan|-?inf|1\.8e\+308)\b", example))


def _period(template: Template, _: str) -> Iterator[str]:
    text = re.sub(r"\s*\[default: .*\]\Z", "", template.text)
    if template.role == "help" and not re.search(r"[.?:…}]\Z", text):
        yield text[-20:]


def _capital(template: Template, _: str) -> Iterator[str]:
    if template.role == "help" and re.match(r"[a-z]+ [a-z]", template.text):
        yield template.text[:20]


def _title_case(template: Template, _: str) -> Iterator[str]:
    if template.room not in IN_TITLE_CASE:
        text = re.sub(NAMES, "", CODE.sub("", template.literal))
        yield from (found[0] for found in re.finditer(r"\b[A-Z][a-z]+(?: (?:[a-z]{1,3} )?[A-Z][a-z]+){2,}", text))


RULES = (
    Rule("American spelling", "analyze, synthesize, color, behavior, canceled", _words(BRITISH), pages=True),
    Rule("no metaphors", "the field's own words", _words(METAPHORS)),
    Rule("no please", "the imperative alone", _words(r"\bplease\b"), pages=True),
    # `!=` and `<!DOCTYPE` are no words
    Rule("no exclamation", "a period, or nothing", _words(r"(?<!<)!(?!=)")),
    Rule("singular and plural", '"1 graph", "2 graphs"', _plural),
    Rule("no distance without a number", '"output 0 contains NaN where eager does not"', _distance),
    Rule("help ends with a period", "a whole sentence", _period),
    Rule("help begins with a capital", "a whole sentence", _capital),
    Rule("sentence case", "a capital for the first word alone", _title_case),
)


def violations(rule: Rule, templates: Sequence[Template], examples: dict[str, str]) -> list[str]:
    """What breaks a rule, one line each: where it is, what is wrong, and the whole text."""
    found = [
        f"{template.file} · {template.where}: {wrong!r} in {' '.join(template.text.split())!r}"
        for template in templates
        for wrong in dict.fromkeys(rule.find(template, examples.get(template.text, "")))
    ]
    pages = _pages() if rule.pages else ()
    return found + [f"{page.file}: {wrong!r}" for page in pages for wrong in dict.fromkeys(rule.find(page, ""))]


def _pages() -> Iterator[Template]:
    """Prose that is not in the source's strings: the pages, and the texts that explain torch's names."""
    files = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    files += [
        ROOT / "vscode-client/README.md",
        # docs/reference, which the site is built from, quotes torch
        *(page for page in (ROOT / "docs").rglob("*.md") if "reference" not in page.parts),
        *(PACKAGE / "knowledge/texts").glob("*.md"),
    ]
    for file in sorted(file for file in files if file.name != "messages.md"):
        text = file.read_text()
        yield Template("pages", file.relative_to(ROOT).as_posix(), "", text, (CODE.sub(" ", text),))
