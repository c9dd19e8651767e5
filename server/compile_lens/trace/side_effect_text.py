"""Reads the text of ``dynamo_side_effects`` (``_format_side_effect_message`` in torch/_dynamo/side_effects.py, torch 2.11 and 2.13)."""

from __future__ import annotations

import re

from compile_lens.late_pattern import pattern
from compile_lens.trace.report import SideEffect
from compile_lens.trace.stack_text import parse_stack

BETWEEN_OBJECTS = pattern(r"^={8,}$", re.MULTILINE)
BETWEEN_STACKS = pattern(r"^[ \t]*\*{8}$", re.MULTILINE)
WHAT = pattern(r"^Mutating object of type (?P<type>.+?) \((?:source(?: name)?: )?(?P<source>.+?)\)(?: \(unable .*)?$")


def parse_side_effects(compile_id: str, text: str) -> tuple[SideEffect, ...]:
    """The effects in ``text``: one per object and line that changes it; an object whose lines torch does not know has none."""
    found: list[SideEffect] = []
    for message in BETWEEN_OBJECTS.split(text):
        what, _, stacks = message.strip().partition("\n")
        match = WHAT.match(what.strip())
        if match is None:
            continue
        for stack in BETWEEN_STACKS.split(stacks):
            frames = parse_stack(stack)
            if frames:
                found.append(SideEffect(compile_id, match["type"], match["source"], frames))
    return tuple(found)
