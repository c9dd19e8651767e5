"""Builds entries of the compiler's parts: Inductor's classes and operations, Dynamo's variable trackers and guards, Triton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.places import place, placed

Row = Mapping[str, Any]
_STAGES = {
    "ir": "inductor lowering",
    "scheduler": "inductor scheduler",
    "memory": "inductor scheduler",
    "dependencies": "inductor scheduler",
    "loop_body": "inductor scheduler",
    "graph": "inductor lowering",
}


def inductor_class(name: str, row: Row) -> KnowledgeEntry:
    facts = _class_facts(row)
    if "made_in" in row:
        facts.append(("Created in", ", ".join(f"`{function}`" for function, _ in row["made_in"])))
    if "asked_in" in row:
        facts.append(("Used in", ", ".join(f"`{function}`" for function, _ in row["asked_in"])))
    return KnowledgeEntry(
        KnowledgeKind.IR,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(facts),
        related=tuple(base.rpartition(".")[2] for base in row.get("bases", ())),
        stage=_STAGES.get(row.get("module", ""), "inductor"),
        places=(*place(row, "defined"), *placed("created", row.get("made_in", ()))),
    )


def variable(name: str, row: Row) -> KnowledgeEntry:
    return KnowledgeEntry(
        KnowledgeKind.VARIABLE,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(_class_facts(row)),
        related=tuple(base.rpartition(".")[2] for base in row.get("bases", ())),
        stage="dynamo",
        places=place(row, "defined"),
    )


def _class_facts(row: Row) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    for label, key in (("Bases", "bases"), ("Subclasses", "subclasses"), ("Fields", "fields"), ("Methods", "methods")):
        if row.get(key):
            facts.append((label, ", ".join(f"`{part}`" for part in row[key])))
    return facts


def operation(name: str, row: Row) -> KnowledgeEntry:
    signature = row.get("signature", "").replace("(self, ", "(").replace("(self)", "()")
    return KnowledgeEntry(
        KnowledgeKind.OPS,
        name,
        theirs=row.get("doc", ""),
        facts=(("Signature", f"`ops.{name}{signature}`"),),
        stage="inductor scheduler",
        places=place(row, "defined"),
    )


def virtualized(name: str, row: Row) -> KnowledgeEntry:
    return KnowledgeEntry(
        KnowledgeKind.VIRTUALIZED, name, theirs=row.get("doc", ""), stage="inductor", places=place(row, "defined")
    )


def guard(name: str, row: Row) -> KnowledgeEntry:
    facts = [("Signature", f"`{name}{row['signature']}`")] if "signature" in row else _class_facts(row)
    return KnowledgeEntry(
        KnowledgeKind.GUARD,
        name,
        theirs=row.get("doc", ""),
        facts=tuple(facts),
        stage="dynamo",
        places=place(row, "made"),
    )


def triton(name: str, row: Row) -> KnowledgeEntry:
    signature = (
        row.get("signature", "")
        .replace(", _semantic=None", "")
        .replace(", _builder=None", "")
        .replace(", _generator=None", "")
    )
    facts = (("Signature", f"`{name}{signature}`"),) if signature else ()
    return KnowledgeEntry(
        KnowledgeKind.TRITON, name, theirs=row.get("doc", ""), facts=facts, stage="triton", places=place(row, "defined")
    )
