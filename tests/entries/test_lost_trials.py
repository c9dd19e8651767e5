"""Trials that end badly: one that crashes the process that makes it, and one that takes too long."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.agent.runtime.entry_plans import SynthesizedCalls
from compile_lens.analysis.finding import Kind
from compile_lens.entries.entry import EntryChoice
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

# what kills a process ends it as native code does that reads beyond its memory
CRASHES = """
import os
import torch
from torch import nn

class Fragile(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, anything):
        if anything.shape[-1] {condition}:
            os.kill(os.getpid(), 11)
        return self.conv(anything)

class Sturdy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)
"""
LOOPS = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 5)

    def forward(self, x):
        while x.shape[1] > 8:
            pass
        return self.linear(x)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_a_call_that_takes_too_long_is_tried_smaller() -> None:
    module = ModuleType("solved")
    exec(compile(LOOPS, "<solved>", "exec"), module.__dict__)
    target = agent_module("inputs.synthesis.target")
    found = target.find_call(module, "Net", target.SearchBudget(trials=20, seconds=60.0))
    assert found.inputs == "x: float32[2, 8, 5]"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_a_search_that_is_ended_offers_the_call_that_it_began_with() -> None:
    module = ModuleType("solved")
    exec(compile(LOOPS.replace("> 8", "> 0"), "<solved>", "exec"), module.__dict__)
    target, limits = agent_module("inputs.synthesis.target"), agent_module("inputs.calling.time_limit")
    with pytest.raises(limits.TrialTooLong) as ended, limits.at_most(0.5):
        target.find_call(module, "Net", target.SearchBudget(trials=20, seconds=60.0))
    assert re.fullmatch(r"Net\(\)\(x=float32\[.+\]\)", ended.value.draft)


def test_a_limit_inside_of_another_leaves_the_rest_of_it() -> None:
    limits = agent_module("inputs.calling.time_limit")
    with pytest.raises(limits.TrialTooLong) as outer, limits.at_most(0.3):
        with pytest.raises(limits.SlowTrial), limits.at_most(0.1, limits.SlowTrial):
            while True:
                pass
        while True:
            pass
    assert type(outer.value) is limits.TrialTooLong


def test_after_a_crash_the_search_goes_on_in_a_new_process(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "fragile.py"
    file.write_text(CRASHES.format(condition="== 32"))
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_text(), None))
    assert [(call.target, call.inputs) for call in outcome.calls] == [
        ("Fragile", "anything: float32[2, 3, 16, 16]"),
        ("Sturdy", "x: float32[2, 16, 4]"),
    ]


def test_the_call_that_crashed_is_told(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "fragile.py"
    file.write_text(CRASHES.format(condition="<= 512"))
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_text(), None))
    assert [call.target for call in outcome.calls] == ["Sturdy"]
    assert outcome.coverage is not None
    reasons = {one.name: one.reason for one in outcome.coverage.units}
    assert re.fullmatch(
        r"the call `Fragile\(\)\(anything=float32\[.*\]\)` ended the process that made it", reasons["Fragile"]
    )


GROUP = """
import torch
import torch.distributed as dist

class Gathered(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) * dist.get_world_size()
"""


def test_a_module_that_needs_a_process_group_gets_one_of_one(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "gathered.py"
    file.write_text(GROUP)
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_text(), None))
    assert [(call.target, call.inputs) for call in outcome.calls] == [
        ("Gathered", "x: float32[2, 16, 4], in a process group of one")
    ]
    # its variations are called in one, too
    assert not [finding.message for finding in outcome.findings if finding.message.startswith("Could not vary")]


STACKED = """
import torch
class Long(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        while torch.compiler.is_dynamo_compiling():
            x = x + 1
        return self.linear(x)
"""
# torch's own cleaning up, too, may fail where it is interrupted
FAILS_WHEN_ENDED = """
import torch

def backend(graph, inputs):
    try:
        while True:
            pass
    finally:
        raise IndexError("what is open is lost")

class Long(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    @torch.compile(backend=backend)
    def forward(self, x):
        return self.linear(x)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
@pytest.mark.parametrize("program", [STACKED, FAILS_WHEN_ENDED], ids=["stacked", "fails-when-ended"])
def test_a_compiled_call_that_does_not_end_is_stopped_and_told(
    tmp_path: Path, warm_host: WarmHost, program: str
) -> None:
    file = tmp_path / "long.py"
    file.write_text(program)
    entry = next(e for e in choose(str(file), file.read_text(), None).entries if isinstance(e.plan, SynthesizedCalls))
    assert isinstance(entry.plan, SynthesizedCalls)
    quick = replace(entry, plan=replace(entry.plan, seconds=3.0))
    outcome = warm_host.run_choice(str(file), EntryChoice((quick,), True))
    assert any(note.startswith("Stopped the compiled call of `Long") for note in outcome.notes)
    assert not outcome.findings
    assert outcome.coverage is not None
    assert [unit.is_analyzed for unit in outcome.coverage.units] == [False]


@pytest.mark.skipif(sys.platform != "linux", reason="nothing can be forked")
def test_what_ended_a_copy_is_told() -> None:
    ahead = agent_module("inputs.calling.ahead")

    def raises(send: Callable[[object], None]) -> None:
        send("before")
        raise KeyError("lost")

    def crashes(send: Callable[[object], None]) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    with ahead.ahead(raises, 60.0) as values:
        assert list(values) == ["before", ahead.Died("KeyError: 'lost'")]
    with ahead.ahead(crashes, 60.0) as values:
        assert list(values) == [ahead.Died("SIGSEGV")]
    assert ahead.of_copy(lambda: 1 / 0, 60.0) is None


@pytest.mark.skipif(sys.platform != "linux", reason="nothing can be forked")
def test_a_python_without_descriptors_of_processes_has_what_a_copy_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    ahead = agent_module("inputs.calling.ahead")

    def sends(send: Callable[[object], None]) -> None:
        send("found")

    with ahead.ahead(sends, 60.0) as values:
        assert list(values) == ["found"]


def test_loaders_of_a_script_need_no_workers() -> None:
    from torch.utils.data import DataLoader

    loader = DataLoader(
        list(range(6)), batch_size=2, num_workers=3, persistent_workers=True, timeout=9, prefetch_factor=4
    )
    with agent_module("inputs.scripts.data_loading").without_workers():
        assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]
        assert loader.num_workers == 0


FAILS_HERE = """
import os
import torch
from torch import nn

HERE = os.getpid()

class Inner(nn.Module):
    def forward(self, x):
        return x + 1

class Fails(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        x = self.inner(x)
        if os.getpid() == HERE:
            raise ValueError("not in the process that imports the file")
        return self.linear(x)

class Works(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="trials run in a copy of the process on Linux alone")
def test_a_call_that_fails_when_it_is_made_for_real_counts_as_not_made(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "model.py"
    file.write_text(FAILS_HERE)
    outcome = warm_host.run_choice(str(file), choose(str(file), FAILS_HERE, None, ""))
    assert outcome.coverage is not None
    reasons = {unit.name: unit.reason for unit in outcome.coverage.units}
    assert reasons["Works"] == ""
    assert "not in the process that imports the file" in reasons["Fails"] and reasons["Inner"]
    assert outcome.coverage.percent < 50
    # a call that we made up says nothing of the file
    assert not [finding for finding in outcome.findings if finding.kind is Kind.RUN_ERROR]


def test_what_ran_in_a_call_that_failed_is_not_covered() -> None:
    coverage = agent_module("inputs.calling.coverage")
    ran = coverage.RanSoFar(__file__, __name__)

    def called(fails: bool) -> None:
        if fails:
            raise ValueError

    with pytest.raises(ValueError), ran.watching():
        called(True)
    assert not ran.lines
    with ran.watching():
        called(False)
    assert ran.lines


def test_a_slow_first_call_leaves_time_for_the_usual_ones() -> None:
    end = agent_module("variations.watcher").end_of_usual_calls
    assert end(36.0, began=2.0, now=4.0) == 36.0
    assert end(36.0, began=30.0, now=38.0) == 38.0 + 2.5 * 8.0
    assert end(36.0, began=2.0, now=40.0) == 40.0 + 30.0


@pytest.mark.parametrize(("more", "times"), [(1e6, [2, 0]), (-1.0, [1, 1])])
def test_a_program_whose_further_calls_take_too_long_is_called_twice_all_the_same(
    more: float, times: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_call = agent_module("inputs.compiled_call")
    call = agent_module("inputs.calling.expressions").PreparedCall
    counts = [0, 0]

    class Watcher:
        def after_call(self, again: Callable[[], object] | None, offers: object, **about: bool) -> None:
            if again is not None:
                counts[1] += 1

    def called() -> None:
        counts[0] += 1

    monkeypatch.setattr(compiled_call, "MORE_S", more)
    monkeypatch.setattr(compiled_call, "compile_at", lambda target, file, at: target)
    monkeypatch.setattr(compiled_call.watcher, "of_run", Watcher)
    at = agent_module("runtime.entry_plans").CompileAt(1)
    assert compiled_call.run_all([call(called, (), {}), call(called, (), {})], at, __file__, "called", [])
    assert counts == times
