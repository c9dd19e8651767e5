"""Bugs planted in Inductor's C++: finding or suspicion → repro → new process → the bug is there, and not in Dynamo alone."""

from __future__ import annotations

from pathlib import Path

from repros import run_all, write_all

from compile_lens.repro.choose import Wanted
from compile_lens.repro.contract import Criterion, ExitCode

PROGRAM = """\
import torch
import torch._inductor.config

torch._inductor.config.cpp.{option} = "{bug}"


@torch.compile
def f(x):
    return {expression}


try:
    f(torch.randn(8, 8))
except Exception as error:
    print(type(error).__name__)
"""
BUGS = [
    ("inject_relu_bug_TESTING_ONLY", "accuracy", "torch.relu(x.sin()).sum()", Criterion.DIFFERS),
    ("inject_relu_bug_TESTING_ONLY", "compile_error", "torch.relu(x.sin()).sum()", None),
    ("inject_log1p_bug_TESTING_ONLY", "accuracy", "torch.log1p(x.abs())", Criterion.DIFFERS),
]


def test_a_planted_bug_is_in_the_repro_and_not_in_dynamo(tmp_path: Path) -> None:
    requests = []
    for number, (option, bug, expression, criterion) in enumerate(BUGS):
        program = tmp_path / f"program_{number}.py"
        program.write_text(PROGRAM.format(option=option, bug=bug, expression=expression))
        wanted = Wanted(region="f") if criterion else Wanted(finding="cpp-compile-error")
        requests.append((program, tmp_path / f"repro_{number}.py", wanted, criterion))
    written = write_all(requests)
    assert [one.expected.criterion for one in written] == [criterion or Criterion.RAISES for *_, criterion in BUGS]
    files = [one.file for one in written]
    ended = run_all([(file, backend) for file in files for backend in ("inductor", "eager")], tmp_path / "cache")
    for (option, bug, *_), bad, good in zip(BUGS, ended[::2], ended[1::2], strict=True):
        assert bad[0] == ExitCode.BAD, f"{option} {bug}: {bad[1]}"
        assert good[0] == ExitCode.GOOD, f"{option} {bug}: {good[1]}"
    assert "RMS error against float64" in ended[0][1]
