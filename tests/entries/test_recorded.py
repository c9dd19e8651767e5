"""Inputs of an earlier run, or of a trace: what is kept of them, and a file that is run with them when it cannot be run otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from compile_lens.agent.runtime.entry_plans import SynthesizedCalls
from compile_lens.entries.recorded import Recording, recorded_entry
from compile_lens.pipeline.entry_choice import choose
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.state.call_memory import CallMemory
from compile_lens.syntax.tree import parse
from compile_lens.trace.files import trace_files
from compile_lens.workers.job import Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

SOURCE = """\
import sys

import torch


@torch.compile(backend="eager")
def f(x, y, n, way="plain"):
    if way == "loud":
        print("loud")
    return x * n + y.sum()


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x, ids=None):
        return self.linear(x)


print(open(sys.argv[1]).read())
f(torch.randn(4, 16).t(), torch.ones(3, requires_grad=True), 3, way="loud")
torch.compile(Net(4), backend="eager")(torch.ones(2, 4), ids=torch.zeros(2, dtype=torch.long))
"""


def test_a_script_whose_data_is_gone_runs_with_the_inputs_that_it_had(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "model.py"
    file.write_text(SOURCE)
    data = tmp_path / "data.txt"
    data.write_text("data")
    memory = CallMemory(tmp_path / "calls")
    first = warm_host.run(Job(str(file), argv=(str(data),), timeout_s=60))
    memory.take_run(replace(first, entry_title="the file as a script"))
    recording = memory.recall(str(file))
    assert recording is not None
    # metadata with strides, and integers as they were; what was used after the break alone, too
    assert dict(recording.calls) == {
        "f": {
            "x": "float32[64].as_strided((16, 4), (1, 16))",
            "y": "float32[3].requires_grad_()",
            "n": "3",
            "way": "'loud'",
        },
        "Net.forward": {"x": "float32[2, 4]"},
    }
    data.unlink()
    choice = choose(str(file), SOURCE, None, recording=recording)
    assert [entry.spec for entry in choice.entries] == ["script", "recorded", "model", "synthesized"]
    assert "inputs of a run of the file as a script on 2" in choice.entries[1].origin
    again = warm_host.run_choice(str(file), choice)
    assert (again.entry, again.entry_title) == ("recorded", "recorded inputs")
    assert [(way.entry, way.reason) for way in again.passed_over] == [
        ("script", "The program needs different arguments: the following arguments are required: argument1.")
    ]
    assert [(f.code, f.place.line) for f in again.findings if f.kind.value != "run-error"] == [("GB0059", 9)]
    assert again.calls == ()  # the statements below the one that fails make their own
    # what was made up from a recording is none itself
    memory.take_run(again)
    assert memory.recall(str(file)) == recording


@pytest.mark.slow
def test_inputs_of_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(SOURCE)
    (tmp_path / "data.txt").write_text("data")
    environment = {**os.environ, "TORCH_TRACE": str(tmp_path / "trace")}
    command = [sys.executable, str(file), str(tmp_path / "data.txt")]
    subprocess.run(command, env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL)
    memory = CallMemory(tmp_path / "calls")
    for trace in trace_files(tmp_path / "trace"):
        memory.take(read_recorded(trace).outcome, "the trace of yesterday")
    recording = memory.recall(str(file))
    assert recording is not None
    assert recording.origin == "the trace of yesterday"
    assert dict(dict(recording.calls)["f"])["n"] == "3"


def test_a_function_that_is_gone_is_not_called() -> None:
    tree = parse("import torch\n\ndef g(x):\n    return torch.sin(x)\n")
    assert recorded_entry(tree, Recording("a run", (("f", {"x": "float32[2]"}),))) is None
    kept = recorded_entry(tree, Recording("a run", (("f", {}), ("g", {"x": "float32[2]"}))))
    assert kept is not None
    assert isinstance(kept.plan, SynthesizedCalls)
    assert [target.name for target in kept.plan.targets] == ["g"]
