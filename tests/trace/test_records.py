"""The reader against damage: a record that is cut or changed costs that record alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.trace.builder import ReportBuilder, read_report
from compile_lens.trace.files import TraceError, trace_files
from compile_lens.trace.records import Record, TraceBytes, iterate

DATA = Path(__file__).parent.parent / "data"
SMALL = trace_files(DATA / "h200-ddp")[1]
TRACE = gzip.decompress(SMALL.read_bytes())
SHRINKS = """\
import os, sys
from pathlib import Path
from compile_lens.trace.records import duration, iterate, opened
trace = opened(Path(sys.argv[1]))
last = [record for record in iterate(trace)][-1]
os.truncate(sys.argv[1], 10)
print(last.payload.text(), len(list(iterate(trace))), duration(trace))
"""


def records(data: bytes) -> list[Record | None]:
    return list(iterate(TraceBytes(data), frozenset()))


WHOLE = records(TRACE)


def test_payloads_are_what_was_written() -> None:
    with_payload = [record for record in WHOLE if record and record.payload]
    assert len(with_payload) > 50
    assert all(record.payload and record.payload.text() is not None for record in with_payload)


@given(st.integers(0, len(TRACE)))
def test_a_cut_trace_gives_every_record_before_the_cut(cut: int) -> None:
    found = records(TRACE[:cut])
    complete = [record for record in found[:-1] if record is not None]
    assert [record.kind for record in complete] == [r.kind for r in WHOLE[: len(complete)] if r]
    builder = ReportBuilder()
    for record in found:
        builder.add(record)
    assert builder.report().corrupt <= 1


@given(st.integers(0, len(TRACE) - 1), st.binary(min_size=1, max_size=40))
def test_changed_bytes_cost_only_the_records_they_touch(at: int, junk: bytes) -> None:
    damaged = TRACE[:at] + junk + TRACE[at + len(junk) :]
    builder = ReportBuilder()
    for record in records(damaged):
        builder.add(record)
    report = builder.report()
    # newlines in the junk may cut a record into several pieces that are none
    assert report.corrupt <= 2 + junk.count(b"\n") * 2
    assert report.records >= len(WHOLE) - 2


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(data: bytes) -> None:
    builder = ReportBuilder()
    for record in iterate(TraceBytes(data)):
        builder.add(record)
    assert builder.report().breaks == ()


def test_unknown_records_are_counted_and_passed_over() -> None:
    builder = ReportBuilder()
    builder.feed(b'V1120 10:00:00.000000 1 a.py:1] {"a_kind_of_the_future": {"x": 1}}\n')
    builder.feed(b'V1120 10:00:00.000000 1 a.py:1] {"a_kind_of_the_future": 3, "frame_id": 0, "frame_compile_id": 0}\n')
    report = builder.report()
    assert report.unknown == {"a_kind_of_the_future": 2}
    assert report.corrupt == 0


def test_a_known_record_of_another_form_is_lost_alone() -> None:
    builder = ReportBuilder()
    builder.feed(
        b'V1120 10:00:00.000000 1 a.py:1] {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0}\n'
    )
    builder.feed(b'V1120 10:00:00.000000 1 a.py:1] {"str": ["a.py"]}\n')
    assert builder.report().corrupt == 2


def test_a_plain_file_and_its_gz_are_read_the_same(tmp_path: Path) -> None:
    plain = tmp_path / "dedicated_log_torch_trace_x.log"
    plain.write_bytes(TRACE)
    assert read_report(plain).compilations == read_report(SMALL).compilations


@pytest.mark.parametrize("content", [b"", b"\x1f\x8bnot gzip"])
def test_an_empty_or_broken_file_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "dedicated_log_torch_trace_x.log.gz"
    file.write_bytes(content)
    with pytest.raises(TraceError, match="cannot be read" if content else "is empty"):
        read_report(file)


def test_a_file_that_is_no_trace_is_told(tmp_path: Path) -> None:
    for content in (b"import torch\n", bytes(range(256)) * 40, b"V0101 00:00:00.000000 1 a.py:1] not JSON\n"):
        file = tmp_path / "program.py"
        file.write_bytes(content)
        with pytest.raises(TraceError, match=r"is not a torch trace\. `TORCH_TRACE=DIR`"):
            read_report(file)
    with pytest.raises(TraceError, match="is not a torch trace"):
        read_report(Path("/dev/null"))


def test_a_trace_that_is_cut_is_read_as_far_as_it_goes_and_said_to_be(tmp_path: Path) -> None:
    file = tmp_path / "cut.log"
    file.write_bytes(TRACE[: len(TRACE) * 2 // 3])
    assert "Unreadable: 1 of 81 records of the trace" in read_recorded(file).outcome.notes[0]


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    packed = tmp_path / "packed.log"
    packed.write_bytes(gzip.compress(TRACE))
    assert read_report(packed).compilations == read_report(SMALL).compilations


def test_a_folder_without_a_trace_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has no torch trace"):
        trace_files(tmp_path)
    with pytest.raises(TraceError, match="no such file"):
        trace_files(tmp_path / "nothing")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param('{"str": ["a.py", 1e999]}', id="a number beyond all"),
        pytest.param('{"dynamo_start": ' + "[" * 100_000, id="without end"),
    ],
)
def test_a_record_that_cannot_be_is_counted_and_passed_over(body: str) -> None:
    builder = ReportBuilder()
    builder.feed(b"V0101 00:00:00.000000 1 torch/_logging/structured.py:1] " + body.encode() + b"\n")
    assert builder.report().corrupt == 1


@pytest.mark.parametrize(
    "value",
    [
        "Infinity",
        "-Infinity",
        "1e999",
        r'"\ud800"',
        r'"\ud83d\ude00"',
        "123456789012345678901234567890",
        '"\N{EURO SIGN}"',
        "1e-400",
    ],
)
def test_a_value_is_what_pythons_json_reads_from_it(value: str) -> None:
    (record,) = records(LINE + b'{"made_up": {"value": ' + value.encode() + b"}}")
    assert record is not None
    assert repr(record.fields) == repr(json.loads(f'{{"value": {value}}}'))


LINE = b"V0101 00:00:00.000000 1 a.py:1] "
OF_FRAME = b', "frame_id": 0, "frame_compile_id": 0, "attempt": 0'
START = LINE + b'{"dynamo_start": {"stack": [{"filename": "a.py", "line": 3, "name": "f"}]}' + OF_FRAME + b"}\n"
ERROR = LINE + b'{"artifact": {"name": "dynamo_error", "encoding": "string"}' + OF_FRAME + b', "has_payload": "%s"}\n'
TRACEBACK = """\
Traceback (most recent call last):
  File "torch/_dynamo/convert_frame.py", line 9, in _compile
    raise
torch._dynamo.exc.Unsupported: unsupported index(Tensor)
  Explanation: Dynamo does not support tracing builtin index() on a Tensor

from user code:
   File "a.py", line 4, in f
    return items[x]

"""


def test_an_error_is_told_when_its_frame_has_ended_or_nothing_else_can_come() -> None:
    payload = TRACEBACK.encode()
    lines = b"".join(b"\t" + line + b"\n" for line in payload.split(b"\n"))
    builder = ReportBuilder()
    builder.feed(START)
    builder.feed(ERROR % hashlib.md5(payload, usedforsecurity=False).hexdigest().encode() + lines)
    (meanwhile,) = builder.report(goes_on=True).compilations
    assert meanwhile.failure is None, "the next record may make a break of it"
    (cut,) = builder.report().compilations
    assert cut.failure is not None
    assert cut.failure.message == "unsupported index(Tensor)"


def test_a_file_that_becomes_shorter_while_it_is_read_ends_nothing(tmp_path: Path) -> None:
    """The system ends a process that reads a map beyond the end of its file (SIGBUS): in one of its own, since it would end this one."""
    file = tmp_path / "trace.log"
    head = (
        'V1122 10:00:00.000000 1 torch/a.py:1] {"artifact": {"name": "x", "encoding": "string"}, "has_payload": "0"}\n'
    )
    text = "x" * 100_000
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    file.write_text((head.replace('"0"', f'"{digest}"') + f"\t{text}\n") * 20)
    done = subprocess.run([sys.executable, "-c", SHRINKS, str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "None 1 0.0\n"), done.stderr
