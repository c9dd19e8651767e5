"""The tools that run nothing: what a name of the compiler means, how a file can be run, and what a trace tells."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compile_lens.analysis.outcome import Outcome
from compile_lens.assistants.answers import (
    FINDING,
    LEFT_OUT,
    NUMBER,
    SUMMARY,
    TEXT,
    array_of,
    by_weight,
    finding_answer,
    object_of,
    summary,
)
from compile_lens.assistants.arguments import WrongArgument
from compile_lens.assistants.bench import Bench, Tell, absolute
from compile_lens.assistants.quoting import quoted, quoted_lines
from compile_lens.diff.identity import TreeOf
from compile_lens.documents.source_file import source_if_readable
from compile_lens.knowledge.lookup import Knowledge, search
from compile_lens.knowledge.render import body, footer
from compile_lens.pipeline.installed_knowledge import knowledge_of
from compile_lens.pipeline.opened_trace import TraceOptions, open_trace
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

LONGEST_EXPLANATION = 4_000
MOST_FOUND = 20
MOST_MEANINGS = 3
EXPLANATION = {
    "torch": TEXT,
    "meanings": array_of(object_of({"name": TEXT, "kind": TEXT, "text": TEXT, "about": TEXT}, "name", "kind", "text")),
    "similar": array_of(TEXT),
    "left_out": LEFT_OUT,
}
ENTRIES = {
    "file": TEXT,
    "chosen_by_file": {"type": "boolean"},
    "entries": array_of(object_of({"entry": TEXT, "kind": TEXT, "origin": TEXT, "place": TEXT}, "entry", "kind")),
    "left_out": LEFT_OUT,
}
TRACE = {
    "trace": TEXT,
    "runs": array_of(object_of({"file": TEXT, "ranks": array_of(NUMBER), "torch": TEXT, "summary": SUMMARY}, "file")),
    "findings": array_of(FINDING),
    "problems": array_of(TEXT),
    "left_out": LEFT_OUT,
}


async def explain(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """What a flag, an option, a code, an operator or a class of the compiler means in the torch of this folder."""
    return await asyncio.to_thread(_explained, given["name"])


def _explained(name: str) -> dict[str, Any]:
    knowledge = _knowledge()
    entries = knowledge.find(name)
    if not entries:
        similar = [*knowledge.nearest(name), *(entry.full_name for entry in search(knowledge, name))]
        return {
            "torch": knowledge.tables.torch,
            "meanings": [],
            "similar": [quoted(one, 120) for one in dict.fromkeys(similar)][:MOST_FOUND],
        }
    return {
        "torch": knowledge.tables.torch,
        "meanings": [
            {
                "name": entry.full_name,
                "kind": entry.kind.label.replace("`", ""),
                "text": quoted_lines(body(entry, knowledge.tables), LONGEST_EXPLANATION),
                "about": footer(entry, knowledge.tables).strip("*"),
            }
            for entry in entries[:MOST_MEANINGS]
        ],
    }


def _knowledge() -> Knowledge:
    """That of the nearest torch."""
    try:
        return knowledge_of(find_interpreter(Path.cwd() / "program.py"))
    except InterpreterError:
        return Knowledge()


async def entries(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The ways to run a file, in the order in which they are tried."""
    source = await bench.source(given["file"], given.get("text"))
    choice = await asyncio.to_thread(bench.choice, source, "")
    return {
        "file": source.file,
        "chosen_by_file": choice.is_explicit,
        "entries": [
            {
                "entry": quoted(entry.spec),
                "kind": entry.kind.value,
                "origin": quoted(entry.origin),
                **({"place": f"{source.file}:{entry.line}:1"} if entry.line else {}),
            }
            for entry in choice.entries
        ],
    }


async def trace(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """What a trace tells that torch wrote, on any machine."""
    path = Path(absolute(given["path"]))
    ranks = given.get("ranks", [])
    if not all(isinstance(rank, int) and not isinstance(rank, bool) for rank in ranks):
        raise WrongArgument("The argument 'ranks' of trace is a list of numbers.")
    tell(f"reading {path.name}")
    folders = [Path.cwd(), *filter(None, [bench.ground.root(str(path / "x"))])]
    options = TraceOptions((), tuple(map(str, folders)))
    opened = await asyncio.to_thread(open_trace, path, options)
    merged = opened.of_ranks(ranks).merged()
    tree_of = trees_below(folders)
    findings = by_weight(tuple(one for outcome in merged for one in outcome.findings))
    return {
        "trace": str(path),
        "runs": [_of_run(outcome) for outcome in merged],
        "findings": [finding_answer(one, "", tree_of, False) for one in findings],
        **({"problems": [quoted(one) for one in opened.problems]} if opened.problems else {}),
    }


def _of_run(outcome: Outcome) -> dict[str, Any]:
    return {
        "file": quoted(outcome.file),
        "ranks": [row.rank for row in outcome.ranks],
        "torch": quoted(outcome.torch),
        "summary": summary(outcome),
    }


def trees_below(folders: Sequence[Path]) -> TreeOf:
    """What parses Python files of ``folders`` alone: a trace may name any file of this machine, and no line of those is told."""
    allowed = [Path(os.path.realpath(folder)) for folder in folders]

    def tree(file: str) -> SourceTree | None:
        real = Path(os.path.realpath(file))
        if real.suffix != ".py" or not any(real.is_relative_to(folder) for folder in allowed):
            return None
        text = source_if_readable(str(real))
        return None if text is None else parse(text)

    return tree
