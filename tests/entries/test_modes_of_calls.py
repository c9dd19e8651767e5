"""Each call of a script's model is made in the modes of that call: function modes of the script's own, and autocast."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import graph_breaks, project, run
from tests.entries.sources import TELLS_HALF

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

TRACING = """\
import contextlib
import torch
from torch.overrides import TorchFunctionMode


class Tracing(TorchFunctionMode):
    def __init__(self, is_loud):
        super().__init__()
        self.is_loud = is_loud

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if self.is_loud:
            print(func)
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def tracing(is_loud):
    with Tracing(is_loud) as mode:
        yield mode


"""
CALLS = """\


net = Mixed()
x = torch.randn(4, 8)
for way in ["plain", "traced", "loud", "half"]:
    with contextlib.ExitStack() as stack:
        if way in ("traced", "loud"):
            stack.enter_context(tracing(way == "loud"))
        if way == "half":
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        for step in range(3):
            net(x)
"""
TRACED = f"{TRACING}{TELLS_HALF}{CALLS}"


def test_calls_in_several_modes_recompile_and_break_as_in_the_script(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"bench.py": TRACED})
    outcome = run(warm_host, tmp_path / "bench.py", "model")
    lines = [number for number, line in enumerate(TRACED.splitlines(), 1) if "print(" in line]
    assert {line for _, line in graph_breaks(outcome)} == set(lines)
    recompiles = [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE]
    assert any("`__torch_function__` mode changed" in message for message in recompiles)
