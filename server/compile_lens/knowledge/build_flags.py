"""Builds entries of what users set (logs, environment variables, options, arguments, modes, backends) and of graph break codes."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from compile_lens.knowledge.curated import log_samples
from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.places import place, placed, places
from compile_lens.shown_text import code_span

CODE_PAGE = "https://meta-pytorch.github.io/compile-graph-break-site/gb/{}.html"
Row = Mapping[str, Any]
Facts = list[tuple[str, str]]


def log(name: str, row: Row) -> KnowledgeEntry:
    facts: Facts = []
    if row.get("what") == "component":
        facts.append(("Kind", "component: sets the level of a group of loggers"))
        facts.append(("Levels", f"`{name}` INFO, `+{name}` DEBUG, `-{name}` ERROR"))
        if row.get("modules"):
            facts.append(("Loggers", ", ".join(f"`{module}`" for module in row["modules"])))
    else:
        facts.append(("Kind", "artifact: one kind of output, on or off"))
        if row.get("off_by_default"):
            facts.append(("Off by default", "yes: only its own name enables it"))
        else:
            facts.append(
                (
                    "Off by default",
                    "its own name turns it on, and so does `+component` for the component that writes it",
                )
            )
    sample, recorded = log_samples().get(name, ("", ""))
    return KnowledgeEntry(
        KnowledgeKind.LOG,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(facts),
        sample=sample,
        recorded=recorded,
        places=place(row, "registered"),
    )


def environment(name: str, row: Row) -> KnowledgeEntry:
    facts: Facts = []
    if "default" in row:
        facts.append(("When unset", f"`{row['default']}`"))
    if "options" in row:
        facts.append(("Sets", ", ".join(f"`{option}`" for option in row["options"])))
    if "library" in row:
        facts.append(("Read by", f"C++ code, in `{row['library']}`"))
    return KnowledgeEntry(
        KnowledgeKind.ENVIRONMENT,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(facts),
        related=tuple(row.get("options", ())),
        places=(*places("read", row.get("read_at", ())), *places("set", row.get("set_at", ()))),
    )


def option(name: str, row: Row) -> KnowledgeEntry:
    if row.get("what") == "section":
        return KnowledgeEntry(
            KnowledgeKind.OPTION,
            name,
            theirs=row.get("doc", ""),
            facts=(("Kind", "group of options"),),
            places=place(row, "defined"),
        )
    facts: Facts = []
    if "type" in row:
        facts.append(("Type", f"`{row['type']}`"))
    if "default" in row:
        facts.append(("Default", f"`{row['default']}`"))
    if "source" in row and "alias" not in row and row["source"].replace('"', "'") != row.get("default"):
        facts.append(("Set in the source to", f"`{row['source']}`"))
    if "env" in row:
        facts.append(("Environment", ", ".join(f"`{variable}`" for variable in row["env"])))
    if "alias" in row:
        facts.append(("Another name of", f"`{row['alias']}`"))
    if "deprecation_message" in row:
        facts.append(("Deprecated", row["deprecation_message"]))
    if "justknob" in row:
        facts.append(("Inside Meta", f"also set by the knob `{row['justknob']}`"))
    related = (*row.get("env", ()), *((row["alias"],) if "alias" in row else ()))
    return KnowledgeEntry(
        KnowledgeKind.OPTION,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(facts),
        related=related,
        places=place(row, "defined"),
    )


def argument(name: str, row: Row) -> KnowledgeEntry:
    facts: Facts = [(label, f"`{row[key]}`") for label, key in (("Type", "type"), ("Default", "default")) if key in row]
    return KnowledgeEntry(
        KnowledgeKind.ARGUMENT,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(facts),
        related=("torch.compile",),
        places=place(row, "defined"),
    )


def mode(name: str, row: Row) -> KnowledgeEntry:
    options = row.get("options", {})
    set_here = ", ".join(f"`{key}={value}`" for key, value in options.items()) or "no option"
    return KnowledgeEntry(
        KnowledgeKind.MODE,
        name,
        theirs=row.get("doc", ""),
        facts=(("Sets", set_here),),
        related=tuple(f"torch._inductor.config.{key}" for key in options),
        places=place(row, "defined"),
    )


def backend(name: str, row: Row) -> KnowledgeEntry:
    tags = row.get("tags", [])
    facts: Facts = [("Tags", ", ".join(tags) if tags else "none: for general use")]
    if tags:
        facts.append(("Listed by", "`torch._dynamo.list_backends(None)` only"))
    return KnowledgeEntry(
        KnowledgeKind.BACKEND, name, theirs=row.get("doc", ""), facts=tuple(facts), places=place(row, "registered")
    )


def _sentences(pieces: Iterable[str]) -> list[str]:
    """torch's registry has each literal of a hint that its source writes as several: those that continue a sentence join it."""
    found: list[str] = []
    for piece in pieces:
        if found and (piece[:1].islower() or piece.startswith("(") or found[-1].endswith(",")):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


def code(name: str, row: Row) -> KnowledgeEntry:
    hints = "\n".join(f"- {hint}" for hint in _sentences(row.get("hints", ())))
    parts = [f"**{row.get('type', '')}**", row.get("explanation", ""), f"Hints:\n{hints}" if hints else ""]
    facts: Facts = [("Context", code_span(row["context"]))] if row.get("context") else []
    return KnowledgeEntry(
        KnowledgeKind.CODE,
        name,
        theirs="\n\n".join(part for part in parts if part),
        facts=tuple(facts),
        stage="dynamo",
        places=(*places("raised", row.get("raised_at", ())), *place(row, "registered")),
        url=CODE_PAGE.format(name.lower()),
    )


def exception(name: str, row: Row) -> KnowledgeEntry:
    bases = ", ".join(f"`{base}`" for base in row.get("bases", ()))
    return KnowledgeEntry(
        KnowledgeKind.EXCEPTION,
        name,
        theirs=row.get("doc", ""),
        facts=(("Bases", bases),) if bases else (),
        related=tuple(base.rpartition(".")[2] for base in row.get("bases", ()) if not hasattr(builtins, base)),
        places=(*place(row, "defined"), *places("raised", row.get("raised_at", ()))),
    )


def artifact(name: str, row: Row) -> KnowledgeEntry:
    facts: Facts = [("Kind", "artifact" if row.get("what") == "artifact" else "record of its own")]
    if "encoding" in row:
        facts.append(("Encoding", f"`{row['encoding']}`"))
    if row.get("written_in"):
        facts.append(("Written by", _functions(row["written_in"])))
    return KnowledgeEntry(
        KnowledgeKind.ARTIFACT, name, facts=tuple(facts), places=placed("written", row.get("written_in", ()))
    )


def file(name: str, row: Row) -> KnowledgeEntry:
    facts: Facts = [("Written by", _functions(row["written_in"]))] if row.get("written_in") else []
    return KnowledgeEntry(KnowledgeKind.FILE, name, facts=tuple(facts), places=place(row, "written"))


def bisect(name: str, row: Row) -> KnowledgeEntry:
    facts: Facts = []
    if row.get("what") == "backend":
        facts.append(("Kind", f"backend, number {row.get('order')} in the order of the bisector"))
        if row.get("subsystems"):
            facts.append(("Subsystems", ", ".join(f"`{part}`" for part in row["subsystems"])))
    elif row.get("what") == "ConfigChange":
        facts.append(("Kind", "subsystem that is tested by setting an option"))
    else:
        facts.append(("Kind", "subsystem that is applied many times; the bisector finds which application is at fault"))
    return KnowledgeEntry(
        KnowledgeKind.BISECT, name, theirs=row.get("doc", ""), facts=tuple(facts), places=place(row, "defined")
    )


def _functions(uses: Any) -> str:
    return ", ".join(f"`{function}`" for function, _ in uses)
