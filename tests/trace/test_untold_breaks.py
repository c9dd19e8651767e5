"""Breaks that torch 2.8 does not record as such are findings, as its traces of such programs have them."""

from __future__ import annotations

import json
from pathlib import Path

from compile_lens.analysis.finding import Kind, Severity
from compile_lens.pipeline.loaded_trace import read_recorded

START = "V1122 12:00:00.000000 1 torch/_dynamo/convert_frame.py:1083] "
PROGRAM = """\
import torch

@torch.compile
def f(x):
    y = x.sin()
    try:
        print("here")
    except ValueError:
        pass
    return y + 1

f(torch.ones(3))
"""


def write_trace(folder: Path, reason: str = "", **more: str) -> Path:
    file = folder / "train.py"
    file.write_text(PROGRAM)
    ids = {"frame_id": 0, "frame_compile_id": 0}
    stack = [{"line": 12, "name": "<module>", "filename": 0}, {"line": 3, "name": "f", "filename": 0}]
    metrics = {
        "co_name": "f",
        "co_filename": str(file),
        "co_firstlineno": 3,
        "graph_op_count": 1,
        "restart_reasons": [reason] if reason else [],
        **more,
    }
    records = [
        {"str": [str(file), 0]},
        {"dynamo_start": {"stack": stack}, **ids, "attempt": 0},
        {"compilation_metrics": metrics, **ids, "attempt": 1},
    ]
    trace = folder / "dedicated_log_torch_trace_x.log"
    trace.write_text("".join(f"{START}{json.dumps(record)}\n" for record in records))
    return trace


def test_a_restart_without_a_break_is_a_break(tmp_path: Path) -> None:
    (found,) = read_recorded(write_trace(tmp_path, "Unknown fail_and_restart_analysis")).outcome.findings
    assert (found.code, found.severity, found.place.line) == ("graph-break", Severity.WARNING, 3)
    assert found.message == "Graph break: torch does not say why; the rest of `f` falls back to eager."


def test_another_restart_is_none(tmp_path: Path) -> None:
    assert not read_recorded(write_trace(tmp_path, "TensorifyScalarRestartAnalysis")).outcome.findings


UNSUPPORTED = """\
Unsupported method call
  Explanation: Dynamo does not know how to trace method `now` of class `builtin_function_or_method`
  Hint: Avoid calling `builtin_function_or_method.now` in your code.
  Developer debug context: call_method


from user code:
   File "{file}", line 7, in f
    print("here")
"""


def unsupported(folder: Path, **more: str) -> dict[str, str]:
    return {"fail_type": "Unsupported", "fail_reason": UNSUPPORTED.format(file=folder / "train.py"), **more}


def test_a_frame_that_is_skipped_may_have_been_compiled_with_fullgraph(tmp_path: Path) -> None:
    (found,) = read_recorded(write_trace(tmp_path, **unsupported(tmp_path))).outcome.findings
    assert (found.kind, found.severity, found.place.line) == (Kind.GRAPH_BREAK, Severity.WARNING, 7)
    assert "does not allow" not in found.message
    assert "falls back to eager" not in found.message
    assert "A trace of torch before 2.9 does not say which." in found.explanation


def test_later_versions_record_the_break_of_a_skipped_frame(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, **unsupported(tmp_path, pytorch_version="2.13.0"))
    (found,) = read_recorded(trace).outcome.findings
    assert found.code == "fullgraph-break"
    assert "`fullgraph=True` does not allow a graph break" in found.message
