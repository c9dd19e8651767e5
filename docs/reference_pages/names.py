"""The names that torch uses, from the bundled tables: the same explanations as in a hover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import CONFIG_MODULES, Knowledge
from compile_lens.knowledge.render import body
from reference_pages.index_page import index_page


@dataclass(frozen=True)
class Section:
    """A page: its file, its title, the kinds of its names, and the start of their names if it has only some."""

    file: str
    title: str
    kinds: tuple[KnowledgeKind, ...]
    prefix: str = ""


# a longer list of contents helps nobody, and makes the build slow; the browser and the site search find names
LONGEST_CONTENTS = 80
PAGES = (
    Section("pipeline", "The pipeline", (KnowledgeKind.STAGE,)),
    Section(
        "arguments",
        "Arguments, modes and backends",
        (KnowledgeKind.ARGUMENT, KnowledgeKind.MODE, KnowledgeKind.BACKEND),
    ),
    Section("logs", "TORCH_LOGS", (KnowledgeKind.LOG,)),
    Section("environment", "Environment variables", (KnowledgeKind.ENVIRONMENT,)),
    *(Section(module, module, (KnowledgeKind.OPTION,), f"{module}.") for module in CONFIG_MODULES),
    Section("graph-breaks", "Graph break codes", (KnowledgeKind.CODE,)),
    Section("exceptions", "Exceptions", (KnowledgeKind.EXCEPTION,)),
    Section("guards", "Guards", (KnowledgeKind.GUARD,)),
    Section("variables", "Dynamo's variable trackers", (KnowledgeKind.VARIABLE,)),
    Section("fx", "FX graphs", (KnowledgeKind.FX,)),
    Section("inductor", "Inductor's IR", (KnowledgeKind.IR,)),
    Section("ops", "Operations of loop bodies", (KnowledgeKind.OPS, KnowledgeKind.VIRTUALIZED)),
    Section("codegen", "Names in generated code", (KnowledgeKind.CODEGEN,)),
    Section("triton", "Triton", (KnowledgeKind.TRITON,)),
    Section("artifacts", "Trace artifacts and debug files", (KnowledgeKind.ARTIFACT, KnowledgeKind.FILE)),
    Section("bisector", "Steps of the compiler bisector", (KnowledgeKind.BISECT,)),
)
INTRODUCTION = (
    "What the compiler's names mean. Hover one in an editor, or ask in a terminal: `compile-lens explain TORCH_LOGS=fusion`. "
    "There, the torch that you have installed is explained, operators and functions too ([what things mean](../../explain.md))."
)


def pages() -> dict[str, str]:
    """Path → Markdown."""
    knowledge = Knowledge()
    found = {f"names/{section.file}.md": _page(section, knowledge) for section in PAGES}
    found["names/index.md"] = index_page("The compiler's names", INTRODUCTION, (section.file for section in PAGES))
    return found


def _page(section: Section, knowledge: Knowledge) -> str:
    return "\n".join(_lines(section, knowledge)) + "\n"


def _lines(section: Section, knowledge: Knowledge) -> Iterator[str]:
    entries = [entry for entry in _entries(section, knowledge) if entry.has_meaning]
    if len(entries) > LONGEST_CONTENTS:
        yield "---\ntocdepth: 1\n---\n"
    yield f"# {section.title}\n"
    yield f"From torch {knowledge.tables.torch.partition('+')[0]}. Quoted text is torch's own.\n"
    for entry in entries:
        yield f"## {entry.full_name.removeprefix(section.prefix)}\n"
        yield f"{body(entry, knowledge.tables)}\n"
        if entry.versions:
            yield f"*{entry.versions[0].upper()}{entry.versions[1:]}.*\n"


def _entries(section: Section, knowledge: Knowledge) -> Iterable[KnowledgeEntry]:
    for kind in section.kinds:
        names = [name for name in knowledge.names(kind) if name.startswith(section.prefix)]
        # stages stand in the order of what happens
        for name in names if kind is KnowledgeKind.STAGE else sorted(names, key=lambda name: name.lstrip("_").lower()):
            entry = knowledge.get(kind, name)
            if entry is not None:
                yield entry
