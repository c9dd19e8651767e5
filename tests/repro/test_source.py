"""Findings, regions and inputs of many kinds as scripts of plain torch, which are run in new processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from repros import captured, run_all, write_all
from tests.command import Warm

from compile_lens.repro.capture import calls_for
from compile_lens.repro.contract import Criterion, ExitCode, parse_header
from compile_lens.repro.expectation import expect
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.selection import Selection
from compile_lens.repro.source import write_source
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("repros")  # one process that scripts are forked from

FIXTURES = Path(__file__).parent.parent / "fixtures"
PROGRAMS = Path(__file__).with_name("programs")
# regions of many_inputs.py that cannot be rebuilt, and what is said of them
UNSUPPORTED = {6: "generator or iterator", 7: "sparse tensor"}

# a program, the finding, and whether Dynamo alone shows it
FINDINGS = [
    ("break_in_submodule.py", "GB0124", Criterion.BREAKS, True),
    ("break_lambda.py", "GB0124", Criterion.BREAKS, True),
    ("break_in_sibling.py", "", Criterion.BREAKS, True),
    ("recompile_size.py", "recompile", Criterion.RECOMPILES, True),
    ("recompile_global.py", "recompile", Criterion.RECOMPILES, True),
    ("recompile_train_eval.py", "recompile", Criterion.RECOMPILES, True),
    ("recompile_limit.py", "recompile-limit", Criterion.RECOMPILES, True),
    ("error_fullgraph.py", "fullgraph-break", Criterion.RAISES, True),
    ("error_backend.py", "backend-error", Criterion.RAISES, False),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inductor")


def test_each_finding_is_there_when_its_repro_runs(tmp_path: Path, cache: Path, warm_host: WarmHost) -> None:
    out = [tmp_path / f"repro_{number}.py" for number in range(len(FINDINGS))]
    requests = [
        (FIXTURES / program, file, Selection(finding=finding), None)
        for (program, finding, _, _), file in zip(FINDINGS, out, strict=True)
    ]
    written = write_all(warm_host, requests)
    assert [one.expected.criterion for one in written] == [criterion for _, _, criterion, _ in FINDINGS]
    own = run_all([(file, "") for file in out], cache)
    for (program, *_), (code, said) in zip(FINDINGS, own, strict=True):
        assert code == ExitCode.BAD, f"{program}: {said}"
    # one of each kind says whether the repro needs more than Dynamo
    some = {(criterion, in_dynamo): number for number, (_, _, criterion, in_dynamo) in enumerate(FINDINGS)}
    eager = run_all([(out[number], "eager") for number in some.values()], cache)
    for ((_, in_dynamo), number), (code, said) in zip(some.items(), eager, strict=True):
        assert code == (ExitCode.BAD if in_dynamo else ExitCode.GOOD), f"{FINDINGS[number][0]}: {said}"
    for file in out:
        assert parse_header(file.read_text()).fields["verified"] == "not run yet"


def test_inputs_of_many_kinds_are_rebuilt_or_said_to_be_unsupported(
    tmp_path: Path, cache: Path, warm_host: WarmHost
) -> None:
    outcome, report, regions = captured(warm_host, PROGRAMS / "many_inputs.py")
    assert len(regions) == 11, outcome.output
    scripts = {}
    for region in regions:
        try:
            script = write_source(region, calls_for(region, (), False), expect(None, report))
        except CannotWrite as problem:
            assert UNSUPPORTED[region.number] in str(problem)
            continue
        scripts[region.number] = tmp_path / f"region_{region.number}.py"
        scripts[region.number].write_text(script.body)
    assert set(UNSUPPORTED) == {region.number for region in regions} - set(scripts)
    for number, (code, said) in zip(scripts, run_all([(f, "") for f in scripts.values()], cache), strict=True):
        assert code == ExitCode.GOOD, f"region {number}: {said}\n{scripts[number].read_text()}"


def test_what_the_user_asks_for_and_is_not_there_is_told_in_one_sentence(tmp_path: Path, warm_host: WarmHost) -> None:
    out = tmp_path / "repro.py"
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    quiet = tmp_path / "quiet.py"
    quiet.write_text("import torch\nf = torch.compile(lambda x: x + 1)\n")
    plain = tmp_path / "plain.py"
    plain.write_text(
        "import torch\nf = torch.compile(lambda x: x + x.max().item(), backend='eager')\nf(torch.ones(2))\n"
    )
    cases = [
        (plain, Selection(region="nothing"), "The run did not call a region 'nothing'"),
        (
            FIXTURES / "recompile_size.py",
            Selection(finding="GB0001@3"),
            "The run has no finding GB0001@3. It has",
        ),
        (plain, Selection(frame="9/9"), "Frame 9/9 does not belong to a compile region that the run called"),
        (quiet, Selection(), "The run called no compile region"),
        (broken, Selection(), "The run called no compile region"),
        (tmp_path / "missing.py", Selection(), "no such file"),
    ]
    for program, wanted, words in cases:
        with pytest.raises(CannotWrite, match=words):
            write_all(warm_host, [(program, out, wanted, None)])
        assert not out.exists()


REACHED_BY_INPUTS = """\
import torch


@torch.compile
def scaled(x, n):
    print("halfway")
    return x * n


def get_inputs():
    return [torch.ones(3, 4), 2]
"""
MAIN = """
if __name__ == "__main__":
    scaled(torch.ones(5), 2)
"""


@pytest.mark.usefixtures("warm_command")
def test_a_file_is_run_by_the_entry_that_check_would_take(tmp_path: Path) -> None:
    program, out = tmp_path / "model.py", tmp_path / "out.py"
    program.write_text(REACHED_BY_INPUTS)

    def repro(*options: str) -> Warm:
        return Warm(["repro", str(program), "--no-run", "-o", str(out), *options], tmp_path)

    unknown = repro("--entry", "nowhere")
    assert unknown.code == 2
    assert "model.py has no entry 'nowhere'" in unknown.err
    found = repro()
    assert found.code == 0, found.err
    assert "Graph break: `print`" in found.out
    assert "torch.ones(3, 4), 2" in out.read_text()
    as_script = repro("--force", "--entry", "script")
    assert "The run called no compile region" in as_script.err
    # inputs that do not fit the function compile nothing, with and without a look at its calls
    program.write_text(REACHED_BY_INPUTS.replace("4), 2]", "4), 2, 3]") + MAIN)
    as_script = repro("--force")
    assert "Graph break: `print`" in as_script.out


FAILS_IN_ITS_BACKEND = """\
import torch
from torch._functorch import partitioners


def no_cse(graph):
    raise RuntimeError("no graph is good enough")


partitioners.fx_graph_cse = no_cse


@torch.compile
def f(x):
    print("on the way")
    return x + 1


f(torch.ones(3, requires_grad=True))
"""


@pytest.mark.usefixtures("warm_command")
def test_without_options_the_program_is_compiled_as_far_as_it_fails(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FAILS_IN_ITS_BACKEND)
    written = Warm(["repro", "program.py", "--no-run", "-o", "out.py"], tmp_path)
    assert "RuntimeError: no graph is good enough" in written.out
    logs = Warm(["logs", "program.py"], tmp_path)
    assert "Logs for aot-error (line 13)" in logs.out
