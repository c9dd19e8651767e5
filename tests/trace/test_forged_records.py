"""A program may write any record into its own trace: one that torch would not write costs itself alone."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compile_lens.pipeline.opened_trace import TraceOptions, open_trace
from compile_lens.trace.files import trace_files

TRACE = gzip.decompress(trace_files(Path(__file__).parent.parent / "data" / "h200-ddp")[0].read_bytes())
RECORDS = [record for record in re.split(rb"(?<=\n)(?=[^\t])", TRACE) if record]
VALUES: list[Any] = [
    None, True, -1, 10**30, 1e308, "", "x", "x\0y", "\ud800", "../../x", "</script>", [], {}, [[]], {"a": 1}, 0, "0/0",
]  # fmt: skip


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*before, key)
        yield from places(one, (*before, key))


def forged(record: bytes, at: tuple[Any, ...], value: Any) -> bytes:
    head, _, payload = record.partition(b"\n")
    begin = head.index(b"] {") + 2
    envelope: Any = json.loads(head[begin:])
    holder = envelope
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    return head[:begin] + json.dumps(envelope).encode() + b"\n" + payload


def kinds() -> dict[tuple[Any, ...], tuple[int, tuple[Any, ...]]]:
    """Where each field of each kind of record is first: the number of the record, and the place in it."""
    found: dict[tuple[Any, ...], tuple[int, tuple[Any, ...]]] = {}
    for number, record in enumerate(RECORDS):
        head = record.partition(b"\n")[0]
        for at in places(json.loads(head[head.index(b"] {") + 2 :])):
            found.setdefault(tuple(key for key in at if isinstance(key, str)), (number, at))
    return found


def test_a_forged_record_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each field once in a few traces, with values that are drawn."""
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(tmp_path / "caches"))
    draw, file, fields = random.Random(15), tmp_path / "trace.log", list(kinds().values())
    assert len(fields) > 100
    for first in range(30):
        records = list(RECORDS)
        for number, at in fields[first::30]:
            value = draw.choice(VALUES)
            try:
                records[number] = forged(records[number], at, value)
            except (KeyError, TypeError, IndexError):  # what is around it was replaced before
                continue
        file.write_bytes(b"".join(records))
        opened = open_trace(file, TraceOptions(compiled=True))
        assert len(opened.outcomes) == 1, opened.problems


@pytest.mark.parametrize(
    "name", ["co_name", "co_filename", "co_firstlineno", "fail_user_frame_filename", "graph_op_count"]
)
def test_metrics_of_other_types_cost_themselves_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(tmp_path / "caches"))
    number = next(at for at, record in enumerate(RECORDS) if b'] {"compilation_metrics"' in record)
    for value in VALUES:
        records = list(RECORDS)
        records[number] = forged(records[number], ("compilation_metrics", name), value)
        (tmp_path / "trace.log").write_bytes(b"".join(records))
        opened = open_trace(tmp_path / "trace.log", TraceOptions(compiled=True))
        assert len(opened.outcomes) == 1, opened.problems
