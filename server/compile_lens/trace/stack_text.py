"""Reads Python stacks from text: a traceback's ``File "…", line N, in NAME``, source line and carets; faulthandler's bare lines."""

from __future__ import annotations

import re

from compile_lens.late_pattern import pattern
from compile_lens.trace.report import StackFrame

FILE_LINE = pattern(r'^\s*File "(?P<file>.+)", line (?P<line>\d{1,9})(?:,? in (?P<name>.+))?$')
CARETS = pattern(r"^\s*[~^]+\s*$|^\s*[~^][~^ ]*$")


def parse_stack(text: str) -> tuple[StackFrame, ...]:
    """The frames of ``text``, in its order; lines that belong to none are passed over."""
    frames: list[StackFrame] = []
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = FILE_LINE.match(line)
        if match is None:
            continue
        source, caret = _source_and_caret(lines[index + 1 : index + 3])
        frames.append(StackFrame(match["file"], int(match["line"]), match["name"] or "<unknown>", source, caret=caret))
    return tuple(frames)


def _source_and_caret(following: list[str]) -> tuple[str, tuple[int, int] | None]:
    if not following or FILE_LINE.match(following[0]) or not following[0].startswith("    "):
        return "", None
    source = following[0]
    indent = len(source) - len(source.lstrip())
    if len(following) > 1 and CARETS.match(following[1]):
        carets = following[1].rstrip()
        start = len(carets) - len(carets.lstrip())
        if start >= indent:
            return source.strip(), (start - indent, len(carets) - indent)
    return source.strip(), None


def is_resume(name: str) -> tuple[str, int] | None:
    """The function and the line that ``torch_dynamo_resume_in_NAME_at_LINE`` stands for, however often it is nested; else None."""
    found = None
    while match := re.fullmatch(r"torch_dynamo_resume_in_(.+)_at_(\d{1,9})", name):
        name = match[1]
        found = (name, found[1] if found else int(match[2]))
    return found
