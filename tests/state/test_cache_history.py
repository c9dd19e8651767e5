"""A graph that the cache does not know again: two runs of the same program, and what their keys differ in."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.performance.cache_misses import cache_keys, find_cache_misses
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.pipeline.analyze import analyze
from compile_lens.state.cache_history import Keys
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.cache_key_text import Component
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from compile_lens.workers.wire import TraceRecord
from replay import JOB, frames_of, recording
from warm_host import WarmHost

PROGRAM = """\
import time

import torch

started = time.time()


@torch.compile
def age(x):
    return (x - started).abs()


age(torch.ones(3))
"""


async def misses(host: Host, file: Path, text: str) -> list[Finding]:
    outcome = await analyze(host, Job(str(file), Depth.INDUCTOR, text, timeout_s=300.0))
    return [finding for finding in outcome.findings if finding.code == "cache-miss"]


@pytest.mark.nightly
def test_a_number_that_is_another_in_each_run_is_told_at_its_line(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "age.py"

    async def run_them() -> None:
        host = warm_host.shared()
        try:
            assert await misses(host, file, PROGRAM) == []
            # another text is another program, and the one before stays known
            fixed = PROGRAM.replace("time.time()", "7.0")
            assert await misses(host, file, fixed) == []
            (finding,) = await misses(host, file, PROGRAM)
            assert finding.place.line == 10
            assert "a number in the graph changed" in finding.message
            assert finding.hints
        finally:
            await host.close()

    warm_host.wait_for(run_them())


def test_the_field_of_an_input_or_the_option_that_changed_is_named() -> None:
    builder = ReportBuilder()
    for frame in frames_of(recording("fixtures")["numbers_right.wire"]):
        if isinstance(frame, TraceRecord):
            builder.feed(frame.data)
    report = builder.report()
    sources = Sources(f"{JOB}/numbers_right.py", lambda _: None)
    context = RunContext(report, sources, RegionIndex(report, "", None))

    def find_misses(before: Keys) -> list[Finding]:
        return list(find_cache_misses(replace(context, earlier_cache_keys=before)))

    keys = cache_keys(report)
    assert list(keys) == ["0/0 1", "0/0 2", "1/0 1"]
    assert find_misses(keys) == []
    assert find_misses({}) == []

    def told(graph: str, component: str, text: str) -> str:
        changed = {**keys, graph: {**keys[graph], component: Component("another", text)}}
        (finding,) = find_misses(changed)
        assert finding.frames == (graph.split()[0],)
        return finding.message

    inputs = {name: part.text for name, part in keys["1/0 1"].items() if name.startswith("example_inputs")}
    name, tensor = next(item for item in inputs.items() if "shape=torch.Size([8, 16])" in item[1])
    said = told("1/0 1", name, tensor.replace("[8, 16]", "[5, 16]"))
    assert f"`shape` of `{name}` changed (torch.Size([5, 16]) → torch.Size([8, 16]))" in said
    said = told("0/0 2", "fx_kwargs[cpp_wrapper]", "True")
    assert "`fx_kwargs[cpp_wrapper]` changed (True → False)" in said
    assert "the graph changed" in told("0/0 1", "gm", "something else")
