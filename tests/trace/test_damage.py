"""Damaged traces: the findings of the part that is intact, a note of what was lost, never an exception."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tests.reliability import shapes

from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.pipeline.loaded_trace import read_recorded, with_divergence
from compile_lens.syntax.tree import parse
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.files import TraceError, trace_files

SMALL = trace_files(Path(__file__).parent.parent / "data" / "h200-ddp")[1]
TRACE = gzip.decompress(SMALL.read_bytes())
LINES = TRACE.splitlines(keepends=True)
STARTS = [0, *(found.end() for found in re.finditer(rb"\n(?=[^\t])", TRACE)), len(TRACE)]
RECORDS = [TRACE[start:end] for start, end in pairwise(STARTS)]
BREAK = b'"dynamo_graph_break_reason"'


def opened(folder: Path, data: bytes) -> Outcome:
    file = folder / "damaged.log"
    file.write_bytes(data)
    return read_recorded(file).outcome


WHOLE: list[Outcome] = []


def whole(folder: Path) -> Outcome:
    if not WHOLE:
        WHOLE.append(opened(folder, TRACE))
    return WHOLE[0]


def told(outcome: Outcome) -> set[str]:
    return {finding.code for finding in outcome.findings}


def cuts(step: int, folder: Path) -> None:
    for cut in range(step, len(TRACE), step):
        outcome = opened(folder, TRACE[:cut])
        # what is whole before the cut is told
        breaks = sum(BREAK in record for record, end in zip(RECORDS, STARTS[1:], strict=True) if end <= cut)
        assert sum(region.breaks for region in outcome.ranks) >= breaks
        # a record that nobody needs may have lost its payload
        lost = sum(region.breaks for region in outcome.ranks) < sum(BREAK in line for line in TRACE[:cut].split(b"\n"))
        assert not lost or any(note.startswith("Unreadable: ") for note in outcome.notes)


def test_a_trace_that_is_cut_anywhere_tells_what_comes_before(tmp_path: Path) -> None:
    cuts(len(TRACE) // 23, tmp_path)


@pytest.mark.nightly
def test_a_trace_that_is_cut_at_each_thousandth_byte_tells_what_comes_before(tmp_path: Path) -> None:
    cuts(1000, tmp_path)


def dropped(random_: random.Random) -> bytes:
    return b"".join(line for line in LINES if random_.random() > 0.01)


def duplicated(random_: random.Random) -> bytes:
    return b"".join(line * (2 if random_.random() < 0.01 else 1) for line in LINES)


def interleaved(random_: random.Random) -> bytes:
    """Two writers that share a file: pieces of one between the lines of the other."""
    lines = list(LINES)
    for _ in range(40):
        at = random_.randrange(len(lines))
        lines.insert(at, b"W1120 16:04:36.944000 596 torch/_logging/a.py:1] [0/0] [__recompiles] not a record\n")
    return b"".join(lines)


def mixed(random_: random.Random) -> bytes:
    """Records in another order, as if several files had been sorted together."""
    records = list(RECORDS)
    for _ in range(20):
        at = random_.randrange(len(records) - 1)
        records[at], records[at + 1] = records[at + 1], records[at]
    return b"".join(records)


def flipped(random_: random.Random) -> bytes:
    data = bytearray(TRACE)
    for _ in range(30):
        data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
    return bytes(data)


def with_wrong_hashes(random_: random.Random) -> bytes:
    return re.sub(
        rb'(?<="has_payload": ")[0-9a-f]{32}',
        lambda found: found[0][::-1] if random_.random() < 0.2 else found[0],
        TRACE,
    )


def with_a_long_line(random_: random.Random) -> bytes:
    records = list(RECORDS)
    at = random_.randrange(1, len(records))
    records.insert(at, b'V1120 16:04:36.944000 596 a.py:1] {"future_kind": {"text": "' + b"x" * 10_000_000 + b'"}}\n')
    records.insert(at, b"x" * 10_000_000 + b"\n")
    return b"".join(records)


def of_a_future_version(_: random.Random) -> bytes:
    """Known kinds with other fields, and keys in front of the kind."""
    data = TRACE.replace(b'"stack": [', b'"frames": [').replace(
        b'{"compilation_metrics": {', b'{"compilation_metrics": [1, {'
    )
    return b'V1120 16:04:36.944000 596 a.py:1] {"schema": 9, "kind": "graph"}\n' * 20 + data


WAYS = (dropped, duplicated, interleaved, mixed, flipped, with_wrong_hashes, with_a_long_line, of_a_future_version)


def damage(way: Callable[[random.Random], bytes], seed: int, folder: Path) -> None:
    outcome = opened(folder, way(random.Random(seed)))
    # nothing is invented; a version that says things in another way may tell nothing
    assert told(outcome) <= told(whole(folder)) | {"dynamo-error"}
    for note in outcome.notes:
        assert re.match(
            r"Unreadable: [\d,]+ of [\d,]+ records of the trace \(cut short or changed\); [\d.]+% is intact", note
        )
    if way in (duplicated, interleaved, with_wrong_hashes, of_a_future_version) and told(outcome) != told(
        whole(folder)
    ):
        assert outcome.notes
    if way in (mixed, with_a_long_line):
        assert told(outcome) == told(whole(folder))


@pytest.mark.parametrize("way", WAYS)
def test_damage_costs_what_it_touches(way: Callable[[random.Random], bytes], tmp_path: Path) -> None:
    damage(way, 1, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("way", [way for way in WAYS if way is not with_a_long_line])
def test_damage_of_many_kinds(way: Callable[[random.Random], bytes], tmp_path: Path) -> None:
    for seed in range(2, 60):
        damage(way, seed, tmp_path)


def test_noise_is_no_trace_whatever_it_is_called(tmp_path: Path) -> None:
    for seed in range(5):
        with pytest.raises(TraceError, match="is not a torch trace"):
            opened(tmp_path, random.Random(seed).randbytes(20_000))


@pytest.mark.parametrize("value", ["{}", "[]", '"x"', "null", "1e400", "-1", "[" * 50_000 + "]" * 50_000])
def test_notes_of_the_program_itself_with_values_of_any_type_are_lost_alone(value: str) -> None:
    def note(name: str, text: str) -> bytes:
        digest = hashlib.md5(text.encode()).hexdigest()
        head = json.dumps({"artifact": {"name": f"compile_lens_{name}", "encoding": "json"}, "has_payload": digest})
        return f"V1122 12:00:00.000000 1 torch/x.py:1] {head}\n\t{text}\n".encode()

    builder = ReportBuilder()
    fields = f'"region": {value}, "file": {value}, "line": {value}, "name": {value}, "column": {value}'
    for name in ("region", "called", "inlined", "skip", "frame", "frame_failed", "break", "failed_call"):
        builder.feed(
            note(name, f'{{{fields}, "target": {value}, "reason": {value}, "stance": {value}, "stack": {value}}}')
        )
    text = "import torch\nf = torch.compile(lambda x: x)\n"
    index = RegionIndex(builder.report(), "program.py", parse(text))
    assert [index.of_call(call.region) for call in builder.report().regions if call.file == "program.py"] == []


def test_records_of_another_shape_are_opened() -> None:
    assert shapes.run(300, seed=3)["inputs"] == 300


@pytest.mark.parametrize("rank", [b'"0"', b"[0]", b"{}", b"1.5"])
def test_a_rank_that_is_no_number_is_none(rank: bytes, tmp_path: Path) -> None:
    first, other = (
        read_recorded(file) for file in (written(tmp_path, "a", TRACE.replace(b'"rank": 1', b'"rank": ' + rank)), SMALL)
    )
    assert first.report.rank is None
    assert len(with_divergence([first, other])) == 2


def written(folder: Path, name: str, data: bytes) -> Path:
    file = folder / name
    file.write_bytes(data)
    return file
