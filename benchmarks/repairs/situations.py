"""Ranks what occurs in all programs by how often it does, with the fixes that helped."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.repairs.kept import Row

MOST = 40
RECOMPILES = ("recompile", "recompile-limit")
OTHER = "another object, function or class"
# the first that fits
CAUSES = {
    "grad mode, autocast or another setting of torch": re.compile(
        r"grad mode|autocast|default dtype|deterministic|precision|TF32|threads"
    ),
    "training or evaluation": re.compile(r"\.training`"),
    "gradients of an argument (`requires_grad`)": re.compile(r"`requires_grad`"),
    "a size": re.compile(r"\bsize \d|the condition"),
    "dtype, rank, strides or aliasing": re.compile(r"\b(dtype|rank|stride \d|dispatch keys|same tensor)\b"),
    "None, or a key or attribute that is there or not": re.compile(
        r"\bNone\b|has key|contains|no longer exists|now has"
    ),
    "the length or type of a container": re.compile(r"length of|range of|list → tuple"),
    "a string, flag or dtype as an argument": re.compile(r"[(](was )?(b?'|True|False|torch\.)"),
    "a number": re.compile(r"[(](was )?-?\d|value kept"),
}


def class_of(row: Row) -> str:
    """What came of a finding: fixed, a version of its own, with a loss, left out, or none."""
    if not row.fix:
        return "none"
    return {"change": "fixed", "separate": "own", "lossy": "loss"}.get(row.fix_kind, "out")


def cause_of(row: Row) -> str:
    """What changed between the calls of a recompile."""
    return next((name for name, pattern in CAUSES.items() if pattern.search(row.message)), OTHER)


def situations(rows: list[Row]) -> str:
    """The situations that occur in most programs, those of all groups together, and what helped."""
    names = _names_of_codes()
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        recompiles = f"recompile: {cause_of(row)}" if row.message else "recompile: not kept"
        known = f"`{row.code}` {names[row.code]}" if row.code in names else f"`{row.code}`"
        found[recompiles if row.kind in RECOMPILES else known].append(row)
    ranked = sorted(found.items(), key=lambda each: (-len({row.program for row in each[1]}), -len(each[1]), each[0]))
    lines = [
        "## What occurs most",
        "",
        "The situations of all programs on this page, those in most programs first. Breaks are named as torch names them.",
        "",
        "| situation | programs | findings | fixed | own version | with a loss | left out | none | what helped |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, own in ranked[:MOST]:
        counts = Counter(map(class_of, own))
        helped = ", ".join(f"`{rule}`" for rule, _ in Counter(row.fix for row in own if row.fix).most_common(4))
        numbers = (counts[each] for each in ("fixed", "own", "loss", "out", "none"))
        cells = (name, len({row.program for row in own}), len(own), *numbers, helped or "–")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _names_of_codes() -> dict[str, str]:
    """What the installed torch calls each code (torch/_dynamo/graph_break_registry.json)."""
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return {}
    registry = json.loads((Path(torch.origin).parent / "_dynamo" / "graph_break_registry.json").read_text())
    return {code: entries[0]["Gb_type"] for code, entries in registry.items()}
