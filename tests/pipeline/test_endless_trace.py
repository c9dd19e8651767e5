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
