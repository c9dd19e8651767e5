"""Shortens tracebacks for a hover: frames of torch and of the standard library are left out, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from compile_lens.late_pattern import pattern
from compile_lens.wording import counted

FRAME = pattern(r'^\s*File "(?P<file>[^"]+)", line \d+')
INTERNAL = pattern(
    r"[/\\](?:site|dist)-packages[/\\](?:torch|triton|functorch)[/\\]|[/\\]lib[/\\]python3[^/\\]*[/\\]\w+\.py$"
)
# what torch adds for those who debug it
ADVICE = pattern(r"^Set TORCHDYNAMO_VERBOSE=1 |^You can suppress this exception ")


def without_internal_frames(detail: str) -> str:
    """``detail`` without frames inside torch. '' if that leaves no traceback of the user's: its words are the message."""
    if not FRAME.search(detail) and "Traceback (most recent call last)" not in detail:
        return detail
    parts = list(_parts(detail.splitlines()))
    shown: list[str] = []
    for internal, group in groupby(parts, key=lambda part: part[0]):
        lines = [line for _, part in group for line in part]
        frames = sum(1 for line in lines if FRAME.match(line))
        shown += [f"  … {counted(frames, 'frame')} inside torch …"] if internal else lines
    return "\n".join(line for line in shown if not ADVICE.match(line)).rstrip()


def _parts(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Each frame with its source lines, and what stands between; with whether it is internal."""
    part: list[str] = []
    internal = False
    for line in lines:
        match = FRAME.match(line)
        if match is not None or (part and internal and not line.startswith("    ")):
            if part:
                yield internal, part
            part, internal = [], match is not None and INTERNAL.search(match["file"]) is not None
        part.append(line)
    if part:
        yield internal, part
