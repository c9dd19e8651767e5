"""Reads the payload of ``recompile_reasons``: guards that failed, as torch/_dynamo/guards.py writes them (2.6 to 2.13).

The record says that it is JSON; with one guard it is plain text, with several a JSON list.
"""

from __future__ import annotations

import json
import re

from compile_lens.trace.report import GuardFailure

ENTRY = re.compile(r"^(?P<against>(?:!\d+/)?\d+/\d+): (?P<rest>.*)$", re.DOTALL)
# "n == 1    # return x * n  # dir/a.py:10 in f (HINT: …)"
COMMENT = re.compile(
    r"^(?P<guard>.*?)\s+# (?P<text>.*?)\s+# (?P<file>\S.*?):(?P<line>\d+) in (?P<function>\S+)(?P<after>.*)$"
)
HINT = re.compile(r"\(HINT: (?P<hint>.*)\)\s*$", re.DOTALL)


def parse_guard_failures(payload: str) -> tuple[GuardFailure, ...]:
    """The guards that failed, one per earlier cache entry, newest first."""
    return tuple(_parse_entry(entry) for entry in _entries(payload))


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
    first, _, _ = rest.partition("\n")
    hint = HINT.search(first)
    located = COMMENT.match(first)
    if located is None:
        return GuardFailure(against, HINT.sub("", first).strip(), hint=hint["hint"].strip() if hint else "")
    return GuardFailure(
        against=against,
        guard=located["guard"].strip(),
        source_text=located["text"].strip(),
        file_tail=located["file"],
        line=int(located["line"]),
        hint=hint["hint"].strip() if hint else "",
    )
