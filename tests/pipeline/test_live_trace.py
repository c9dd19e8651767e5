"""A trace that is read while it grows tells what the whole one tells, whatever pieces it comes in."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from compile_lens.pipeline import live_run
from compile_lens.pipeline.live_run import LiveRun
from compile_lens.pipeline.live_trace import LiveTrace
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.trace.builder import read_report
from compile_lens.trace.report import CompileReport

RANKS = sorted((Path(__file__).parent.parent / "data" / "h200-ddp").glob("*_rank_*.log.gz"))


@pytest.fixture(scope="module")
def whole() -> bytes:
    return gzip.decompress(RANKS[1].read_bytes())


def told(report: CompileReport) -> tuple[object, ...]:
    """What a report says, payloads as their text: where that is kept is not the same."""
    artifacts = [(one.name, one.compile_id, one.attempt, one.payload.text()) for one in report.artifacts]
    guards = [one.guards and one.guards.text() for one in report.compilations]
    return replace(report, artifacts=(), inputs=()), artifacts, guards


@pytest.mark.parametrize("seed", range(3))
def test_pieces_of_any_size_give_the_same_report(tmp_path: Path, whole: bytes, seed: int) -> None:
    file, rng = tmp_path / "dedicated_log_torch_trace_rank_1_x.log", random.Random(seed)
    live, at = LiveTrace(file), 0
    with file.open("wb") as stream:
        while at < len(whole):
            size = rng.choice([1, 100, 10_000, 300_000])
            stream.write(whole[at : at + size])
            stream.flush()
            at += size
            live.read()
    assert told(live.report()) == told(read_report(file))
    assert live.report().corrupt == 0


def test_a_record_is_taken_when_it_is_whole_and_not_before(tmp_path: Path, whole: bytes) -> None:
    file = tmp_path / "t.log"
    lines = whole.split(b"\n")
    start = next(number for number, line in enumerate(lines) if b'"has_payload"' in line and lines[number + 1])
    end = next(number for number in range(start + 1, len(lines)) if not lines[number].startswith(b"\t"))
    head, payload = b"\n".join(lines[: start + 1]) + b"\n", b"\n".join(lines[start + 1 : end]) + b"\n"
    live = LiveTrace(file)
    file.write_bytes(head + payload[:-5])
    live.read()
    before = live.report().records
    with file.open("ab") as stream:
        stream.write(payload[-5:])
    live.read()
    assert (live.report().records, live.report().corrupt) == (before + 1, 0)
    live.read(is_over=True)
    assert live.report().records == before + 1


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path, whole: bytes) -> None:
    file = tmp_path / "t.log"
    file.write_bytes(whole)
    live = LiveTrace(file)
    live.read()
    file.write_bytes(whole[: len(whole) // 2])
    live.read(is_over=True)
    assert told(live.report()) == told(read_report(file))


def test_findings_are_told_once_though_both_ranks_have_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_run, "PAUSE_PER_COST", 0.0)
    live, told = LiveRun(tmp_path), []
    texts = {tmp_path / rank.stem: gzip.decompress(rank.read_bytes()) for rank in RANKS}
    for part in range(1, 5):
        for file, text in texts.items():
            file.write_bytes(text[: len(text) * part // 4])
        told += live.poll(is_over=part == 4)
    keys = [(news.finding.place, news.finding.code, news.is_storm) for news in told]
    assert len(keys) == len(set(keys)) > 0
    final = {(one.code, one.place.line) for file in texts for one in read_recorded(file).outcome.findings}
    assert final <= {(news.finding.code, news.finding.place.line) for news in told}
    assert [one.report.rank for one in live.recorded()] == [0, 1]
    assert "rank-divergence" in {finding.code for outcome in live.outcomes() for finding in outcome.findings}


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path, whole: bytes) -> None:
    live = LiveRun(tmp_path / "later")
    assert live.poll() == [] and live.is_empty
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "dedicated_log_torch_trace_x.log").write_bytes(whole)
    assert live.poll(is_over=True) and not live.is_empty
