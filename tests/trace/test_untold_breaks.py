"""A break of which torch 2.8 records only that tracing was restarted, as its trace of such a program has it, is a finding."""

from __future__ import annotations

import json
from pathlib import Path

from compile_lens.analysis.finding import Severity
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


def write_trace(folder: Path, reason: str) -> Path:
    file = folder / "train.py"
    file.write_text(PROGRAM)
    ids = {"frame_id": 0, "frame_compile_id": 0}
    stack = [{"line": 12, "name": "<module>", "filename": 0}, {"line": 3, "name": "f", "filename": 0}]
    metrics = {
        "co_name": "f",
        "co_filename": str(file),
        "co_firstlineno": 3,
        "graph_op_count": 1,
        "restart_reasons": [reason],
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
