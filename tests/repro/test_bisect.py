"""From the finding of a run over a repro of it to the verdict of a bisection: it is what was planted, and says where it is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from planted_bugs import BUGS, EARLY, Bug
from questions import ASKED, recorded, repro_of
from repros import job_for

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.bisect import BisectOptions, bisect, stale_state
from compile_lens.repro.bisect_document import document, markdown_link
from compile_lens.repro.bisect_guide import _GUIDE
from compile_lens.repro.contract import Criterion
from compile_lens.repro.selection import Selection
from compile_lens.repro.verdict import Bisection, BisectionStatus, from_json
from compile_lens.repro.write import Request, write_repro
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth
from warm_host import WarmHost

pytestmark = [pytest.mark.searches, pytest.mark.xdist_group("bisect")]
OWN_BACKEND = """
import os, sys
if os.environ.get("TORCH_COMPILE_BACKEND", "mine") == "mine":
    print("BAD with backend mine: it raises")
    sys.exit(1)
"""
PATTERN = """
from torch._inductor.fx_passes import post_grad
from torch._inductor.pattern_matcher import CallFunction, KeywordArg, register_graph_pattern

SINE = CallFunction(torch.ops.aten.sin.default, KeywordArg("x"))


@register_graph_pattern(SINE, pass_dict=post_grad.pass_patterns[1])
def sine_becomes_cosine(match, x):
    node = match.output_node()
    with node.graph.inserting_before(node):
        cosine = node.graph.call_function(torch.ops.aten.cos.default, (x,))
    cosine.meta.update(node.meta)
    node.replace_all_uses_with(cosine)
    node.graph.erase_node(node)


def fn(x):
    return (x.exp() + x.sin()) * 2
"""
# those that are replayed, and one whose search goes on beyond torch's, as that of an early stage does without C++ (`EARLY`)
NIGHTLY = (*ASKED, "fusion", "log1p-accuracy")
STOCK = Path(__file__).with_name("stock_bisect.py")


class Bisector:
    """Programs are run by the warm host, all bisections by another, in an environment that has what must not reach a step."""

    def __init__(self, folder: Path, programs: WarmHost) -> None:
        self._loop = asyncio.new_event_loop()
        self._folder = folder
        self._programs = programs
        self._host = Host(sys.executable, {**os.environ, "TORCH_BISECT_BACKEND": "eager"})
        self._known: dict[str, Bisection] = {}

    def file(self, name: str, text: str) -> Path:
        # beside one another, and one bug is called random: a plain name would stand in for the library's module
        path = self._folder / f"planted_{name.replace('-', '_')}.py"
        path.write_text(text)
        return path

    def bug(self, name: str) -> Bisection:
        if name not in self._known:
            self._known[name] = self.bisect(self.repro_of_finding(name))
        return self._known[name]

    def repro_of_finding(self, name: str) -> Path:
        """The repro of what a run of the program finds."""
        bug, program = BUGS[name], self.file(f"{name}_program", BUGS[name].program())
        out = program.with_name(program.name.replace("_program", ""))
        # random numbers differ by design: that is no finding, and the user has to ask for it
        wanted, criterion = (Selection(finding=bug.code), None) if bug.code else (Selection("fn"), Criterion.DIFFERS)
        request = Request(job_for(program, Depth.INDUCTOR), wanted, out, criterion, verify=False)
        written = self._programs.wait_for(write_repro(self._programs.shared(), request))
        assert (written.finding is not None) is bool(bug.code)
        return out if bug.code else _without_the_random_numbers_of_eager(out)

    def bisect(self, file: Path, options: BisectOptions = BisectOptions()) -> Bisection:  # noqa: B008
        return self._loop.run_until_complete(bisect(self._host, file, options))

    def close(self) -> None:
        self._loop.run_until_complete(self._host.close())
        self._loop.close()


def _without_the_random_numbers_of_eager(repro: Path) -> Path:
    lines = repro.read_text().splitlines(keepends=True)
    others = [line for line in lines if "fallback_random = True" not in line]
    assert len(others) == len(lines) - 1
    repro.write_text("".join(others))
    return repro


@pytest.fixture(scope="module")
def bisector(tmp_path_factory: pytest.TempPathFactory, warm_host: WarmHost) -> Iterator[Bisector]:
    found = Bisector(tmp_path_factory.mktemp("repros"), warm_host)
    yield found
    found.close()


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.nightly if n in NIGHTLY else ()) for n in BUGS])
def test_the_verdict_is_what_was_planted(bisector: Bisector, name: str) -> None:
    found, bug = bisector.bug(name), BUGS[name]
    assert found.status is BisectionStatus.FOUND, (found.sentence, found.steps[-1:])
    assert found.verdict is not None
    backend, subsystem, info = bug.verdict
    assert (found.verdict.backend, found.verdict.subsystem) == (backend, subsystem)
    assert info is None or info in (found.verdict.debug_info or "")
    if bug.line is not None:
        assert bug.line in [line.text for line in found.source]
        assert all(Path(place.file).is_file() and place.line > 0 for place in found.places)
        assert found.places


@pytest.mark.parametrize(
    # torch plants the same three faults in two operators
    "name",
    [pytest.param(name, marks=pytest.mark.nightly if name.startswith("log1p") else ()) for name in ASKED],
)
def test_a_search_that_asks_what_was_recorded_has_the_verdict(bisector: Bisector, name: str) -> None:
    found = bisector.bisect(bisector.file(f"{name}_asked", repro_of(name)), BisectOptions(ablate=False))
    assert found.verdict is not None, (found.sentence, found.steps[-1:])
    backend, subsystem, info = BUGS[name].verdict
    assert (found.verdict.backend, found.verdict.subsystem) == (backend, subsystem)
    assert info is None or info in (found.verdict.debug_info or "")


def test_a_kernel_that_no_compiler_takes_has_a_repro(bisector: Bisector) -> None:
    assert bisector.repro_of_finding("relu-compile-error").is_file()


def test_the_steps_are_torchs_and_the_environment_reaches_none(bisector: Bisector) -> None:
    found = bisector.bug("decomposition")
    searched = [step for step in found.steps if step.purpose == "search"]
    assert [step.backend for step in searched][:3] == ["eager", "aot_eager", "aot_eager_decomp_partition"]
    assert [step.good for step in searched][:3] == [True, True, False]
    assert found.steps[0].purpose == "baseline"
    assert "Ignored environment variables: TORCH_BISECT_BACKEND." in found.notes
    assert "Disabling decomposition fixed the issue." in found.said
    assert found.forked is (sys.platform == "linux")


def test_a_pass_of_the_users_is_found_in_the_users_file(bisector: Bisector) -> None:
    found = bisector.bug("post-grad-pass")
    place = next(place for place in found.places if place.label == "the pass")
    assert (place.name, place.file) == ("sine_to_cosine", found.repro)
    applied = next(place for place in found.places if place.label == "applied")
    assert applied.file.endswith("post_grad.py")


@pytest.mark.nightly
def test_a_lowering_leads_to_its_registration_and_its_kernel(bisector: Bisector) -> None:
    found = bisector.bug("log1p-accuracy")
    registered = next(place for place in found.places if place.label == "registered")
    assert "log1p" in Path(registered.file).read_text().splitlines()[registered.line - 1]
    assert [kernel.name for kernel in found.kernels] == ["cpp_fused_exp_log1p_sum_0"]
    assert {"log1p", "exp"} <= set(found.kernels[0].nodes)


@pytest.mark.nightly
def test_beyond_torchs_search_a_switch_is_found_that_helps(bisector: Bisector) -> None:
    found = bisector.bug("fusion")
    assert found.verdict is not None and found.verdict.subsystem is None
    assert [switch.name for switch in found.helping] == ["fusion"]


def test_where_torchs_search_stops_options_of_the_aot_stage_are_tried(bisector: Bisector) -> None:
    found = bisector.bisect(bisector.file("cse", EARLY["cse"].text()))
    assert [switch.name for switch in found.helping] == ["cse"]
    assert found.sentence == "The problem is in aot_eager; it goes away with no elimination of common subexpressions."


def test_an_operator_is_named_that_only_the_failing_step_names(bisector: Bisector) -> None:
    found = bisector.bisect(bisector.file("crossref", EARLY["crossref"].text()))
    assert found.operator == "planted.turned.default"
    assert "operator `planted.turned.default`" in found.sentence


def test_a_backend_that_torch_does_not_try_is_not_told_as_no_problem(bisector: Bisector) -> None:
    found = bisector.bisect(bisector.file("own_backend", OWN_BACKEND))
    assert found.status is BisectionStatus.UNFIT
    assert found.sentence.startswith("The repro fails only with its own backend (`mine`)")


@pytest.mark.nightly
def test_a_pattern_of_the_users_is_named(bisector: Bisector) -> None:
    text = BUGS["post-grad-pass"].text()
    found = bisector.bisect(
        bisector.file("pattern", text.replace(BUGS["post-grad-pass"].body.strip(), PATTERN.strip()))
    )
    assert (found.places[0].label, found.places[0].name) == ("pattern", "sine_becomes_cosine")
    assert "pattern `sine_becomes_cosine` (planted_pattern.py:" in found.sentence


def test_a_crash_is_a_bad_step_and_not_the_end(bisector: Bisector) -> None:
    found = bisector.bug("crash")
    assert any(step.signal == 11 for step in found.steps)
    assert "A step whose process crashed counts as bad." in found.notes


def test_the_result_survives_json_and_becomes_a_document(bisector: Bisector) -> None:
    found = bisector.bug("decomposition")
    assert from_json(found.to_json()) == found
    text = document(found, Knowledge(), markdown_link)
    assert "addcmul" in text
    assert found.places
    assert all(f":{place.line}]({Path(place.file).as_uri()}#L{place.line})" in text for place in found.places)
    assert "TORCH_BISECT_SUBSYSTEM=decomposition TORCH_BISECT_MAX=" in text


@pytest.mark.nightly
def test_the_commands_by_hand_are_bad_and_good(bisector: Bisector) -> None:
    found = bisector.bug("decomposition")
    codes = []
    for title, line in found.commands:
        if "up to number" in title:
            ended = subprocess.run(line, shell=True, capture_output=True, text=True, check=False, timeout=300)
            codes.append(ended.stdout.strip().splitlines()[-1])
    assert codes == ["1", "0"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import sys; sys.exit(1)", "fails without torch.compile, too"),
        ("import sys; sys.exit(125)", "already fails in eager"),
        ("import os; os.abort()", "crashes without torch.compile, too"),
        ("while True: pass", "exceeded the time limit of a step"),
    ],
)
def test_what_cannot_be_bisected_is_said_before_the_search(bisector: Bisector, source: str, sentence: str) -> None:
    found = bisector.bisect(bisector.file("unfit", source), BisectOptions(step_limit_s=3.0))
    assert found.status is BisectionStatus.UNFIT
    assert sentence in found.sentence
    assert [step.purpose for step in found.steps] == ["baseline"]


def test_steps_at_the_same_time_change_neither_order_nor_verdict(bisector: Bisector) -> None:
    # of all the recorded ones the longest search
    repro = bisector.file("at_once", repro_of(max(ASKED, key=lambda name: len(recorded()[name]))))
    alone, together = (bisector.bisect(repro, BisectOptions(at_once=steps, ablate=False)) for steps in (1, 4))
    asked = [
        [(step.backend, step.subsystem, step.state, step.low, step.high, step.good) for step in found.steps]
        for found in (alone, together)
    ]
    assert asked[0] == asked[1]
    assert alone.verdict == together.verdict


def test_a_function_that_must_be_one_graph_runs_without_compile_first(bisector: Bisector) -> None:
    text = BUGS["dynamo"].text().replace("COMPILE_OPTIONS = {}", "COMPILE_OPTIONS = {'fullgraph': True}")
    assert "fullgraph" in text
    found = bisector.bisect(bisector.file("fullgraph", text))
    assert [step.purpose for step in found.steps if step.good] == ["baseline"]
    assert str(found.verdict) == "eager"


def test_a_repro_that_passes_is_not_reproduced(bisector: Bisector) -> None:
    found = bisector.bisect(bisector.file("passes", "import torch"))
    assert found.status is BisectionStatus.NOT_REPRODUCED
    assert found.verdict is None


@pytest.mark.nightly
def test_torchs_own_search_has_the_same_verdict(bisector: Bisector) -> None:
    bisection = bisector.bug("decomposition")
    file, found = bisection.repro, bisection.verdict
    assert found is not None
    ways: list[list[str]] = [[]]
    if "run <cmd>" in _help_of_bisector():
        ways.append(["--run"])
    for way in ways:
        ended = subprocess.run(
            [sys.executable, str(STOCK), file, *way], capture_output=True, text=True, check=True, timeout=600
        )
        stock: dict[str, Any] = json.loads(ended.stdout.strip().rpartition("\n")[2])["result"]
        assert stock == {
            "backend": found.backend,
            "subsystem": found.subsystem,
            "bisect_number": found.number,
            "debug_info": found.debug_info,
        }


def _help_of_bisector() -> str:
    code = "from torch._inductor import compiler_bisector as b; print(getattr(b, 'HELP_TEXT', ''))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_state_of_another_bisection_is_found(tmp_path: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    assert stale_state(environment) is None
    (tmp_path / "bisect").mkdir()
    file = tmp_path / "bisect" / "bisect_status.txt"
    file.write_text("backend=eager\nsubsystem=\n")
    assert stale_state(environment) == file


def test_every_log_that_is_recommended_exists() -> None:
    knowledge = Knowledge()
    unknown = [
        log for _, logs, _ in _GUIDE.values() for log in logs if not knowledge.knows(KnowledgeKind.LOG, log.lstrip("+"))
    ]
    assert not unknown


def test_every_bug_is_a_repro_of_its_own() -> None:
    assert all(
        isinstance(bug, Bug) and bug.line in (None, *map(str.strip, bug.text().splitlines())) for bug in BUGS.values()
    )
