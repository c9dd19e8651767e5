"""Reads the message templates out of the product's Python source: what a user may read, with ``{name}`` where a value goes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.messages.not_shown import KEYS, MATCHED, NEVER_SHOWN

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "server/compile_lens"
# the second are the templates of repros
SOURCES = ("*.py", "*.py.jinja")
# what a value looks like in ``Template.pattern``: never in a source
HOLE = "\0"
HELP = "help"
LONGEST_CHOICE = 40
# methods whose value is named like the text they are called on
OF_TEXT = frozenset(("lower", "upper", "capitalize", "title", "as_posix"))
# calls whose value is named like their argument
NAMED_LIKE_ARGUMENT = frozenset(("str", "repr", "int", "round", "sorted", "join", "quoted", "display_path", "fspath"))
WORD = re.compile(r"(?<![\w.\-/{:=])[A-Za-z][a-z']*(?:-[a-z]+)*(?![\w(/={]|\.\w)")
REGEX = re.compile(r"\(\?|\\[dwsbSWZ]|\[\^|\.[*+](?!\*)|[)\]][*+?]|\\\.|^\^|\$\Z")
CODE = re.compile(
    r"^\s*(?:def |class |import |from [\w.]+ import|return |@|#include|#!|print\(|with .*:$|for .* in .*:$|if .*:$|try:|\*\*/|raise \w+\()",
    re.M,
)


@dataclass(frozen=True, slots=True)
class Template:
    """One text that a user may read. ``where`` is the function or constant that holds it.

    ``text`` shows a value as ``{name}``; ``pieces`` are the literal texts between the values.
    ``role`` is ``help`` for what documents an option, a command or a setting.
    """

    room: str
    file: str
    where: str
    text: str
    pieces: tuple[str, ...]
    role: str = ""

    @property
    def holes(self) -> list[str]:
        """The names of the values."""
        names, at = [], 0
        for before, after in zip(self.pieces, self.pieces[1:], strict=False):
            start = at + len(before) + 1
            end = self.text.index("}" + after, start) if after else self.text.index("}", start)
            names.append(self.text[start:end])
            at = end + 1
        return names

    @property
    def literal(self) -> str:
        """The template's own words, without code and values."""
        return re.sub(r"`[^`\n]*`|``", " ", HOLE.join(self.pieces))


def product_templates() -> list[Template]:
    """All of the server's and the agent's, by file and in the order of the source."""
    files = sorted(file for kind in SOURCES for file in PACKAGE.rglob(kind))
    found = (template for file in files for template in read_python(file))
    return list(dict.fromkeys(found))


def read_python(file: Path) -> Iterator[Template]:
    """The templates of one source file."""
    name = file.relative_to(PACKAGE).as_posix()
    for where, text, pieces, role in texts_of(_parsed(file)):
        if f"{file.name}::{where}" not in NEVER_SHOWN and text not in KEYS and is_prose(pieces):
            yield Template(room_of(name), name, where, text, pieces, role)


def _parsed(file: Path) -> ast.Module:
    """A module, or a template for one: each value is read as a name."""
    source = file.read_text()
    if file.suffix != ".py":
        indented = re.sub(r"\{\{ (\w+) \| indented \}\}", r"    \1", re.sub(r"\{%.*?%\}", "", source))
        source = re.sub(r"\{\{ (\w+).*?\}\}", r"\1", indented)
    return ast.parse(source)


def texts_of(tree: ast.Module) -> list[tuple[str, str, tuple[str, ...], str]]:
    """Its texts that may be shown: where each is, how it reads, its pieces, its role."""
    reader = _Reader()
    reader.walk(tree, (), "")
    return reader.found


def room_of(name: str) -> str:
    """``agent/inputs`` for what lies there or below, ``fixes`` for ``fixes/rewrites/ignore.py``, ``wording`` for ``wording.py``."""
    parts = name.removesuffix(".py").split("/")
    return "/".join(parts[: 2 if parts[0] == "agent" and len(parts) > 2 else 1])


def is_prose(pieces: tuple[str, ...], is_title: bool = False) -> bool:
    """Whether a text is made of words: two at least, and neither a regular expression nor code. A title may be all capitals."""
    text = HOLE.join(pieces)
    words = WORD.findall(re.sub(r"`[^`\n]*`", " ", text))
    if (
        len(words) < 2
        or REGEX.search(text)
        or not (is_title or any(word.islower() and len(word) > 1 for word in words))
    ):
        return False
    return not CODE.search(text) and not _is_code(text.replace(HOLE, "x"))


def _is_code(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    return True


class _Reader:
    """Walks a syntax tree and keeps its texts, but for those that are compared, looked up or logged."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, tuple[str, ...], str]] = []

    def walk(self, node: ast.AST, scope: tuple[str, ...], role: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope, role = (*scope, node.name), ""
            docstring = ast.get_docstring(node)
            if docstring and any(_is_command(decorator) for decorator in node.decorator_list):
                for paragraph in docstring.split("\f")[0].split("\n\n"):
                    self._keep(scope, [" ".join(paragraph.split())], [], HELP)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not scope:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            scope = (target.id,) if isinstance(target, ast.Name) else scope
        elif isinstance(node, ast.keyword):
            role = HELP if node.arg == "help" else role
        elif isinstance(node, ast.Call):
            role = HELP if _called(node) == "documented" else ""
        if not is_text(node):
            for child in _shown_children(node):
                self.walk(child, scope, role)
            return
        pieces, holes = [""], list[str]()
        for part in _parts(node):
            if isinstance(part, str):
                pieces[-1] += part
            else:
                holes.append(hole_name(part))
                pieces.append("")
                self.walk(part, scope, "")
        self._keep(scope, pieces, holes, role)

    def _keep(self, scope: tuple[str, ...], pieces: list[str], holes: list[str], role: str) -> None:
        text = pieces[0] + "".join(f"{{{hole}}}{piece}" for hole, piece in zip(holes, pieces[1:], strict=True))
        self.found.append((".".join(scope), text, tuple(pieces), role))


def is_text(node: ast.AST) -> bool:
    """A literal, an f-string, or a sum or formatting of such."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text(node.left) or is_text(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return is_text(node.left)
    return isinstance(node, ast.JoinedStr) or _is_format(node)


def _is_format(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
        and is_text(node.func.value)
    )


def _parts(node: ast.AST) -> Iterator[str | ast.expr]:
    """A text as its literal pieces and its values, in order."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            yield from _parts(value.value if isinstance(value, ast.FormattedValue) else value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and is_text(node):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_text(node):
        values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        yield from _filled(node.left, r"%[-\d.]*[sdrfgi]", values)
    elif isinstance(node, ast.Call) and _is_format(node):
        assert isinstance(node.func, ast.Attribute)
        yield from _filled(node.func.value, r"\{[^{}]*\}", [*node.args, *(keyword.value for keyword in node.keywords)])
    elif isinstance(node, ast.expr):
        yield node


def _filled(text: ast.expr, place: str, values: list[ast.expr]) -> Iterator[str | ast.expr]:
    """The places of an old-fashioned format are filled in order."""
    for part in _parts(text):
        if not isinstance(part, str):
            yield part
            continue
        first, *rest = re.split(place, part)
        yield first
        for piece in rest:
            yield values.pop(0) if values else ast.Name("value")
            yield piece


def hole_name(node: ast.expr) -> str:
    """What a value is called in a template: the name nearest to it."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Subscript | ast.Await | ast.Starred):
        return hole_name(node.value)
    if isinstance(node, ast.IfExp):
        return _choice(node)
    if isinstance(node, ast.BinOp):
        return hole_name(node.left)
    if isinstance(node, ast.BoolOp):
        return hole_name(node.values[0])
    return _call_name(node) if isinstance(node, ast.Call) else "value"


def _choice(node: ast.IfExp) -> str:
    """``node{s|}``: a choice between two words is shown as it is."""
    texts = [branch.value for branch in (node.body, node.orelse) if isinstance(branch, ast.Constant)]
    if len(texts) == 2 and len(shown := f"{texts[0]}|{texts[1]}") <= LONGEST_CHOICE:
        return shown
    return hole_name(next((branch for branch in (node.body, node.orelse) if not is_text(branch)), node.test))


def _call_name(node: ast.Call) -> str:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "value")
    nouns = [
        argument.value
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    if name in NAMED_LIKE_ARGUMENT:
        return hole_name(node.args[0]) if node.args else "value"
    if name == "len":
        return f"number of {hole_name(node.args[0])}"
    if isinstance(node.func, ast.Attribute) and name in MATCHED | OF_TEXT:
        return hole_name(node.func.value)
    return f"{name} {nouns[-1]}" if nouns and nouns[-1].isalpha() else name.lstrip("_")


def _is_command(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(target, ast.Attribute) and target.attr in ("command", "group")


def _shown_children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which a text may be for the user, and not for the program."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Compare | ast.Assert | ast.MatchValue):
        yield from (child for child in ast.iter_child_nodes(node) if not _is_plain(child))
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.AnnAssign):
        yield from [node.value] if node.value is not None else []
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body)
    elif isinstance(node, ast.Call) and _called(node) in MATCHED:
        yield node.func
        yield from (argument for argument in (*node.args, *node.keywords) if not _is_plain(argument))
    elif not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _called(node.exc) == "AssertionError"):
        yield from ast.iter_child_nodes(node)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_plain(node: ast.AST) -> bool:
    """A text, or a tuple or the like of texts: what is compared and looked up."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(_is_plain(element) for element in node.elts)
    return is_text(node)
