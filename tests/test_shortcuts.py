"""What makes runs faster changes no finding: each program again without it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from benchmarks.model_scripts import MODELS, Model, script_of
from tests.processes import Mark
from tests.standby_copy import copy_of

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from fixture_notation import depth_of
from test_fixtures import CORPUS, FIXTURES, PROGRAMS
from warm_host import TIMEOUT_S, WarmHost, one_worker_each

pytestmark = pytest.mark.nightly

# what Dynamo decides, however far the compiler goes on with its graphs
OF_DYNAMO = {Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT, Kind.SIDE_EFFECT}
STOPPED_AFTER_DYNAMO = [
    file
    for file in [*FIXTURES, *CORPUS, *PROGRAMS]
    if Depth(depth_of(file.read_text(encoding="utf-8"))) is Depth.DYNAMO
]


def told(finding: Finding) -> tuple[object, ...]:
    """What a user sees of a finding, but for how far into the compiler its cost was measured."""
    return finding.code, finding.kind, finding.severity, finding.message, finding.place, finding.count, finding.hints


def of_dynamo(outcome: Outcome) -> list[tuple[object, ...]]:
    return [told(finding) for finding in outcome.findings if finding.kind in OF_DYNAMO]


@pytest.mark.parametrize("file", one_worker_each(STOPPED_AFTER_DYNAMO))
def test_a_run_that_stops_after_dynamo_finds_what_a_longer_one_does(file: Path, warm_host: WarmHost) -> None:
    short, longer = warm_host.analyze_fixture(file).outcome, warm_host.analyze(file, Depth.AOT).outcome
    if longer.status is not short.status:
        pytest.skip(f"with AOTAutograd, the program ends otherwise: {longer.status.value}")
    assert of_dynamo(longer) == of_dynamo(short)


@pytest.fixture
def mark() -> Mark:
    return Mark()


@pytest_asyncio.fixture
async def host(mark: Mark) -> AsyncIterator[Host]:
    host = Host(sys.executable, mark.environment, loads_packages=True)
    yield host
    await host.close()
    assert mark.none_left()


@pytest.mark.models
@pytest.mark.skipif(sys.platform != "linux", reason="a process is forked")
@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="runs models of transformers")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
async def test_a_run_with_packages_imported_finds_what_the_first_one_did(
    model: Model, tmp_path: Path, host: Host
) -> None:
    script = tmp_path / f"{model.name}.py"
    script.write_text(script_of(model), encoding="utf-8")
    job = Job(str(script), timeout_s=TIMEOUT_S)
    first = await analyze(host, job)
    assert first.status in (Status.OK, Status.RAISED), first.failure
    copy = await copy_of(host)
    if copy is None:
        pytest.skip("its packages do something when they are imported")
    before = copy.cpu_times().children_user
    second = await analyze(host, job)
    assert copy.cpu_times().children_user > before, "it did not run in the copy"
    assert (second.status, [told(finding) for finding in second.findings]) == (
        first.status,
        [told(finding) for finding in first.findings],
    )
