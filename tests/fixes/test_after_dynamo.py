"""A fix that Dynamo accepts and that fails after it is not offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Status
from compile_lens.fixes import after_dynamo
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix, Verifier
from compile_lens.pipeline.analyze import analyze
from compile_lens.syntax.tree import parse
from compile_lens.workers.job import Job, ResultNotes
from warm_host import WarmHost

# Dynamo runs `helper` in eager because of the loop; in the graph, `odd` comes to Inductor
PROGRAM = """\
import torch
from torch._inductor.lowering import register_lowering


@torch.library.custom_op("compile_lens_tests::odd", mutates_args=())
def odd(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@odd.register_fake
def _(x):
    return torch.empty_like(x)


@register_lowering(torch.ops.compile_lens_tests.odd.default)
def _(x):
    raise NotImplementedError("odd has no kernel")


def helper(x):
    for _ in range(2):
        print("twice")
        x = odd(x)
    return x


@torch.compile
def f(x):
    return helper(x) + 1


f(torch.ones(2))
"""
# an operator without a result, of whose effect AOTAutograd does not know
CHECKED = """\
import torch


@torch.library.custom_op("compile_lens_tests::check", mutates_args=())
def check(x: torch.Tensor) -> None:
    if (x < 0).any():
        raise ValueError("negative")


@check.register_fake
def _(x):
    pass


@torch.compile
def f(x):
    check(x)
    return x + 1


try:
    f(-torch.ones(2))
except ValueError:
    print("raised")
"""


def test_what_inductor_cannot_lower_is_no_fix(warm_host: WarmHost, tmp_path: Path) -> None:
    job = Job(str(tmp_path / "p.py"), text=PROGRAM)
    before = warm_host.run(job)
    (finding,) = (each for each in before.unfiltered if each.kind is Kind.GRAPH_BREAK)
    verifier = Verifier(analyze, job, PROGRAM, before)
    found = {
        fix.rule: CandidateFix(finding, fix, warm_host.wait_for(verifier.effect(warm_host.shared(), fix)))
        for fix in fixes_for(finding, parse(PROGRAM))
        if fix.rule in ("allow-in-graph", "disable")
    }
    allowed, left_out = found["allow-in-graph"], found["disable"]
    assert left_out.is_offered
    assert allowed.effect is not None and not allowed.is_offered and not allowed.helps
    assert (
        "odd has no kernel" in allowed.effect.fails_later and "but after Dynamo torch.compile failed" in allowed.words
    )


@pytest.mark.parametrize(("results", "prints"), [(ResultNotes.COMPILED, "raised"), (ResultNotes.LOWERED, "")])
def test_a_lowered_program_does_what_its_compiled_code_would(
    warm_host: WarmHost, tmp_path: Path, results: ResultNotes, prints: str
) -> None:
    outcome = warm_host.run(Job(str(tmp_path / "p.py"), text=CHECKED, results=results))
    assert (outcome.status, outcome.output.strip()) == (Status.OK, prints)


# fails once the branch is taken
FAILS = """\
import torch


@torch.compile
def f(x, names=("a", "b")):
    if x.sum() > 5:
        return x, names[int(x.sum())]
    return x, ""


f(torch.ones(2))
"""


def test_of_a_program_that_fails_the_error_is_told(warm_host: WarmHost, tmp_path: Path) -> None:
    job = Job(str(tmp_path / "p.py"), text=FAILS)
    before = warm_host.run(job)
    finding = next(each for each in before.unfiltered if each.kind is Kind.GRAPH_BREAK)
    verifier = Verifier(analyze, job, FAILS, before)
    effect = warm_host.wait_for(
        verifier.effect_of_text(warm_host.shared(), FAILS.replace("if x.sum() > 5", "if not x.sum() > 5"))
    )
    words = effect.words(finding.kind)
    assert not effect.ended and effect.harms
    assert words == "the program raised `IndexError`: tuple index out of range"


def test_the_page_says_what_may_fail_after_dynamo() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fixes.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| fix | what may fail after Dynamo |\n|---|---|\n")
    rows = [line.split("|")[1:3] for line in table.partition("\n\n")[0].splitlines()]
    told = {rule.strip(" `"): why.strip() for rules, why in rows for rule in rules.split(",")}
    assert told == after_dynamo.WHY
