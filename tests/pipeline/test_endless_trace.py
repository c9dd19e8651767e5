"""A file in a followed folder that somebody else made: a record without end takes neither memory nor time, and what follows is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.pipeline import live_trace
from compile_lens.pipeline.live_trace import LiveTrace

RECORD = b'V1122 19:40:33.000000 1 torch/_dynamo/x.py:1] {"str": ["a.py", 0]}\n'


def test_a_record_without_end_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_trace, "CHUNK", 1 << 10)
    monkeypatch.setattr(live_trace, "LARGEST_RECORD", 1 << 14)
    monkeypatch.setattr(live_trace, "LARGEST_LOOK", 1 << 16)
    file = tmp_path / "dedicated_log_torch_trace_rank_0_a.log"
    file.write_bytes(RECORD + b"V" + bytes(1 << 20))
    trace = LiveTrace(file)
    trace.read()
    assert trace.is_trace
    held = []
    for _ in range(20):
        trace.read()
        held.append(len(trace._held))
    assert max(held) <= (1 << 14) + (1 << 10)
    before = trace._records
    with file.open("ab") as end:
        end.write(b"\n" + RECORD * 3)
    trace.read()
    assert trace._records == before + 3


def test_many_long_records_that_are_not_whole_are_not_all_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_trace, "MOST_HELD", 1 << 12)
    file = tmp_path / "dedicated_log_torch_trace_rank_0_a.log"
    file.write_bytes(RECORD + RECORD.rstrip(b"\n") + bytes(1 << 16))
    trace = LiveTrace(file)
    for _ in range(3):
        trace.read()
        assert trace._held == b"" and trace._records == 1
    with file.open("ab") as end:
        end.write(b"\n" + RECORD * 2)
    trace.read()
    assert trace._records == 3  # the long one is none
    file.write_bytes(RECORD)
    trace.read()
    assert trace._records == 1


def test_a_long_record_is_read_once_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_trace, "MOST_HELD", 16)
    file = tmp_path / "dedicated_log_torch_trace_rank_0_a.log"
    file.write_bytes(RECORD[:40])
    trace = LiveTrace(file)
    trace.read()
    assert trace._held == b"" and not trace.is_trace
    with file.open("ab") as end:
        end.write(RECORD[40:])
    trace.read()
    assert trace._records == 1
