"""Reads guards as torch/_dynamo/guards.py writes them (2.6 to 2.13): those that failed, and all of one compiled version.

The record of those that failed says that it is JSON; with one guard it is plain text, with several a JSON list.
"""

from __future__ import annotations

import json
import re

from compile_lens.late_pattern import pattern
from compile_lens.trace.report import GuardFailure
from compile_lens.trace.stack_text import parse_stack

ENTRY = pattern(r"^(?P<against>(?:!\d+/)?\d+/\d+): (?P<rest>.*)$", re.DOTALL)
# "n == 1    # return x * n  # dir/a.py:10 in f (HINT: …)"; torch's own guards have no line of the user's
COMMENT = pattern(r"(?<!\s)\s+# ")
PLACE = pattern(r":(?P<line>\d{1,9}) in \S")
# a shape guard that nothing in the program asked for says why it is there
REMARK = pattern(r"(?<!\s)\s+# (?:duck sizing |\(unknown |<unknown>).*$")
HINT = "(HINT: "
# torch/csrc/dynamo/guards.cpp, TENSOR_MATCH
ADVICE = pattern(r"\. Guard failed on a parameter, consider using (?P<setting>torch\.\S+ = \w+) to (?P<effect>.*)$")
USER_STACK = "User stack trace:"
# a failed guard is told without the scope of its locals (torch/_dynamo/guards.py, strip_local_scope, torch 2.9 and later)
LOCAL = pattern(r"\bL\[\s*['\"](.{0,999}?)['\"]\s*\]")
# five of each tensor, and none of them names a value
MARKS = "DIMENSION_DYNAMIC_MARKING_GUARD"
# "| | +- EQUALS_MATCH: L['n'] == 1    # …": a guard in the tree of a version
LEAF = pattern(r"^(?:\| )*\+- (?P<kind>[A-Z][A-Z0-9_]+): (?P<guard>.*)$")


def parse_guard_failures(payload: str) -> tuple[GuardFailure, ...]:
    """The guards that failed, one per earlier cache entry, newest first."""
    return tuple(_parse_entry(entry) for entry in _entries(payload))


def guard_lines(payload: str) -> tuple[str, ...]:
    """The guards of the version that ``payload`` lists (``dynamo_cpp_guards_str``), one text each."""
    found = (LEAF.match(line) for line in payload.splitlines())
    return tuple(match["guard"] for match in found if match is not None and match["kind"] != MARKS)


def parse_guard(line: str) -> GuardFailure:
    """A guard of a version as it would be told if it failed."""
    return _parse_guard("", LOCAL.sub(r"\1", line))


def _entries(payload: str) -> list[str]:
    try:
        parsed = json.loads(payload)
    except ValueError:
        parsed = payload
    if isinstance(parsed, list):
        return [str(entry) for entry in parsed]
    # plain text: an entry may go on over lines (a user stack); the next begins with its own id
    entries: list[str] = []
    for line in str(parsed).splitlines():
        if ENTRY.match(line) or not entries:
            entries.append(line)
        else:
            entries[-1] += "\n" + line
    return entries


def _parse_entry(entry: str) -> GuardFailure:
    match = ENTRY.match(entry)
    against, rest = (match["against"], match["rest"]) if match else ("", entry)
    return _parse_guard(against, LOCAL.sub(r"\1", rest))


def _parse_guard(against: str, text: str) -> GuardFailure:
    head, _, stack = text.partition(USER_STACK)
    lines = head.strip().splitlines()
    first = REMARK.sub("", lines[0]) if lines else ""
    before_hint, _, hint = first.rstrip().partition(HINT)
    has_hint = hint.endswith(")")
    guard, source_text, file_tail, place = _located(first)
    advice = ADVICE.search(first)
    if advice is not None:
        first = first[: advice.start()]
    return GuardFailure(
        against=against,
        guard=(guard if place else before_hint if has_hint and advice is None else first).strip(),
        source_text=source_text,
        file_tail=file_tail,
        line=place,
        hint=advice["setting"] if advice else hint[:-1] if has_hint else "",
        stack=parse_stack(stack),
    )


def _located(text: str) -> tuple[str, str, str, int | None]:
    """The guard, the user's line, the end of the file's name, and the number of the line: None where the guard has no place.

    The user's line may have any number of comments of its own.
    """
    comment = COMMENT.search(text)
    place = PLACE.search(text, comment.end()) if comment is not None else None
    if comment is None or place is None:
        return "", "", "", None
    source, _, file = text[comment.end() : place.start()].rpartition(" # ")
    return text[: comment.start()], source.strip(), file.strip(), int(place["line"])
