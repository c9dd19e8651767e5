"""Makes large traces: the records of a recorded one again and again, each time with new compile ids."""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from pathlib import Path

FRAME = re.compile(rb'"frame_id": (\d+)')
# a guard that failed names the entry that it belongs to
ENTRY = re.compile(rb"^\t(\d+)/", re.MULTILINE)
RECORD = re.compile(rb"\n(?=[^\t])")
DIGEST = re.compile(rb'"has_payload": "[0-9a-f]{32}"')
# a run that long compiles more frames than this one
STEP = 100


def replicate(source: bytes, target: Path, size: int) -> None:
    """Write to ``target`` the trace ``source`` as often as ``size`` bytes take."""
    records = records_of(source)
    with target.open("wb") as file:
        offset = 0
        while file.tell() < size:
            for record in records:
                file.write(_moved(record, offset) if offset else record)
            offset += STEP


def records_of(source: bytes) -> list[bytes]:
    """The records of a trace: their lines, with their payloads."""
    starts = [0, *(found.end() for found in RECORD.finditer(source)), len(source)]
    return [source[start:end] for start, end in pairwise(starts) if start < end]


def _moved(record: bytes, offset: int) -> bytes:
    """``record`` with frames that are numbered ``offset`` higher."""
    line, newline, payload = record.partition(b"\n")
    line = FRAME.sub(lambda found: b'"frame_id": %d' % (int(found[1]) + offset), line)
    if b'"recompile_reasons"' in line:
        payload = ENTRY.sub(lambda found: b"\t%d/" % (int(found[1]) + offset), payload)
        content = payload.removesuffix(b"\n")[1:].replace(b"\n\t", b"\n")
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest().encode()
        line = DIGEST.sub(b'"has_payload": "%s"' % digest, line)
    return line + newline + payload
