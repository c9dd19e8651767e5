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


def situations(rows: list[Row], of_models: list[Row]) -> str:
    """The situations that occur in most programs, those of all groups together, and what helped.

    ``of_models`` were found in models of diffusers, whose files are not the user's: no fix was tried.
    """
    found, in_models = _by_situation(rows), _by_situation([row for row in of_models if row.code])
    for name in in_models:
        found[name]  # a situation of models alone is ranked, too

    def programs(name: str) -> int:
        return len({row.program for row in found[name]}) + len({row.program for row in in_models.get(name, ())})

    ranked = sorted(found.items(), key=lambda each: (-programs(each[0]), -len(each[1]), each[0]))
    lines = [
        "## What occurs most",
        "",
        "The situations of all programs on this page and of models of diffusers, those in most of them first. Breaks are named as torch",
        "names them.",
        "",
        *_about_models(of_models),
        "| situation | programs | models of diffusers | findings | fixed | own version | with a loss | left out | none | what helped |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, own in ranked[:MOST]:
        counts = Counter(map(class_of, own))
        helped = ", ".join(f"`{rule}`" for rule, _ in Counter(row.fix for row in own if row.fix).most_common(4))
        numbers = (counts[each] for each in ("fixed", "own", "loss", "out", "none"))
        models = len({row.program for row in in_models.get(name, ())})
        cells = (name, len({row.program for row in own}), models, len(own), *numbers, helped or "–")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _by_situation(rows: list[Row]) -> defaultdict[str, list[Row]]:
    names = _names_of_codes()
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        recompiles = f"recompile: {cause_of(row)}" if row.message else "recompile: not kept"
        known = f"`{row.code}` {names[row.code]}" if row.code in names else f"`{row.code}`"
        found[recompiles if row.kind in RECOMPILES else known].append(row)
    return found


def _about_models(rows: list[Row]) -> list[str]:
    """What was done with models of diffusers; nothing where none was analyzed."""
    if not rows:
        return []
    models = {row.program for row in rows}
    broken = {row.program for row in rows if row.code and row.kind not in RECOMPILES}
    return [
        f"`python -m benchmarks.repairs.diffusers` calls {len(models)} models of diffusers with two sizes, with small",
        f"configurations and random weights ({rows[0].plain}).",
        f"{len(broken)} of them break ({', '.join(sorted(broken)) or '–'}). The code is the library's: no fix was tried there.",
        "",
    ]


def _names_of_codes() -> dict[str, str]:
    """What the installed torch calls each code (torch/_dynamo/graph_break_registry.json)."""
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return {}
    registry = json.loads((Path(torch.origin).parent / "_dynamo" / "graph_break_registry.json").read_text())
    return {code: entries[0]["Gb_type"] for code, entries in registry.items()}
