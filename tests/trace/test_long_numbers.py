"""Python converts no number of more than 4,300 digits. One that a program has written, or says, costs itself alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.guards import read_guard
from compile_lens.analysis.wrapped_calls import named_in
from compile_lens.fixes.offer import fixes_for
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.stages.opened import stages_of
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.tree import parse
from compile_lens.trace.break_text import parse_break
from compile_lens.trace.records import opened
from compile_lens.trace.report import GuardFailure
from compile_lens.trace.stack_text import is_resume, parse_stack

TRACE = Path(__file__).parent.parent / "data" / "stages" / "dedicated_log_torch_trace_block_2.13.log.gz"
RECORDS = [record for record in re.split(rb"(?<=\n)(?=[^\t])", gzip.decompress(TRACE.read_bytes())) if record]
LONG = "9" * 5000
# Python reads it, and cannot write it
HEXADECIMAL = "0x" + "f" * 4000


def with_long_numbers(record: bytes, before: str, number: str = LONG) -> bytes:
    """``record`` with the first numbers of its payload that stand after ``before`` in another length."""
    head, _, payload = record.partition(b"\n")
    begin = head.index(b"] {") + 2
    envelope = json.loads(head[begin:])
    changed = re.sub(rf"(?<={before})\d+".encode(), number.encode(), payload, count=6)
    if "has_payload" in envelope and changed != payload:
        lines = changed.rstrip(b"\n").split(b"\n")
        envelope["has_payload"] = hashlib.md5(b"\n".join(line[1:] for line in lines)).hexdigest()
    return head[:begin] + json.dumps(envelope).encode() + b"\n" + changed


@pytest.mark.parametrize("before", ["line ", r"py:", r"\[", r"\(", ", ", " = ", r'": ', "buf", "_", "="])
def test_a_long_number_in_a_record_costs_itself_alone(before: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.log"
    file.write_bytes(b"".join(with_long_numbers(record, before) for record in RECORDS))
    assert LONG in file.read_text()
    assert read_recorded(file).outcome.torch
    assert [stage.text for graph in stages_of(opened(file)).graphs for stage in graph.stages]


@pytest.mark.parametrize("before", [r"\[", ", ", " = ", "== ", r"\("])
def test_so_does_one_that_can_only_be_read(before: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.log"
    file.write_bytes(b"".join(with_long_numbers(record, before, HEXADECIMAL) for record in RECORDS))
    assert read_recorded(file).outcome.torch
    assert [stage.text for graph in stages_of(opened(file)).graphs for stage in graph.stages]


def test_one_in_a_guard_costs_neither_its_words_nor_the_fixes() -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x, n):\n    return x * n\n\n\nf(torch.ones(3), 1)\n"
    for guard in (f"L['n'] == {HEXADECIMAL}", f"L['x'][{HEXADECIMAL}] == 3", f"len(L['n'][{HEXADECIMAL}]) == 1"):
        assert read_guard(GuardFailure("0/0", guard))
        place = Place("f.py", 5, 1, 5, 2)
        detail = f"[0/1] against 0/0: {guard}"
        found = Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "Recompiled.", place, detail=detail)
        assert fixes_for(found, parse(text))


def test_long_numbers_in_what_a_program_says() -> None:
    assert parse_stack(f'  File "x.py", line {LONG}, in f\n  File "x.py", line 3, in g\n') == parse_stack(
        '  File "x.py", line 3, in g\n'
    )
    assert parse_break(f"Graph break in user code at x.py:{LONG}\nReason: r\n").file is None
    assert is_resume(f"torch_dynamo_resume_in_f_at_{LONG}") is None
    for text in (LONG, HEXADECIMAL, "-" * 9000 + "1", "a\0"):
        with pytest.raises(SyntaxError):
            parse_expression(text)
    assert named_in(f"`args[{LONG}]`") == f"`args[{LONG}]`"


def test_a_long_number_in_an_open_file_costs_no_prediction() -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef f(x):\n    y = [x, x]\n"
        f"    z = y[{LONG}] + y[-{LONG}] + x[{LONG}:]\n    return z.sum().item() + x.view({LONG})\n"
    )
    assert predict(text)
