"""No wrong finding: what a run with made-up inputs finds, a script of plain torch with the same inputs finds, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.entry_corpus.confirm import confirm
from benchmarks.plain_torch.process import PlainTorch
from msgspec.structs import replace

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

OWN = Path(__file__).parent.parent.parent / "benchmarks" / "entry_corpus" / "own"
# files that nobody arranged, and that break or recompile when they are run with made-up inputs
FILES = ("moe_layer", "seq2seq_rnn", "diffusion_step", "graph_layer")


@pytest.mark.parametrize("name", [*FILES[:2], *(pytest.param(name, marks=pytest.mark.nightly) for name in FILES[2:])])
def test_findings_of_made_up_inputs_are_those_of_a_plain_script(
    name: str, warm_host: WarmHost, plain_torch: PlainTorch
) -> None:
    file = OWN / f"{name}.py"
    choice = choose(str(file), file.read_text(encoding="utf-8"), None)
    ours = warm_host.analyze_choice(str(file), choice)
    assert ours.outcome.entry == "synthesized"
    outcome = of_one_call(ours.outcome)
    said = confirm(file, choice, outcome, ours.report, plain_torch)
    assert said.differences == ()
    assert said.confirmed == len(outcome.findings)


def of_one_call(outcome: Outcome) -> Outcome:
    """``outcome`` without what only further calls would do: the script calls once."""
    return replace(outcome, findings=tuple(found for found in outcome.findings if found.kind is not Kind.VARIATION))


def test_a_wrong_finding_and_one_that_is_left_out_are_differences(warm_host: WarmHost, plain_torch: PlainTorch) -> None:
    file = OWN / "moe_layer.py"
    choice = choose(str(file), file.read_text(encoding="utf-8"), None)
    ours = warm_host.analyze_choice(str(file), choice)
    outcome = of_one_call(ours.outcome)
    broken = next(found for found in outcome.findings if found.code.startswith("GB"))
    others = tuple(found for found in outcome.findings if found is not broken)
    elsewhere = replace(broken, place=replace(broken.place, line=broken.place.line + 1))

    wrong = confirm(file, choice, replace(outcome, findings=(*others, elsewhere)), ours.report, plain_torch)
    assert (wrong.findings, wrong.confirmed) == (len(others) + 1, len(others))
    assert wrong.differences[0].startswith(f"only here: {broken.code} at moe_layer.py:{elsewhere.place.line}")

    less = confirm(file, choice, replace(outcome, findings=others), ours.report, plain_torch)
    assert less.differences == (f"only plain: 1 more of {broken.code}",)
