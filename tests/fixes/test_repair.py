"""Fixes that help only together, and what is said where none helps."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import FixKind
from compile_lens.fixes.repair import WITH_LOSS, WITHOUT_LOSS, Repair, Repaired, Wanted, every_finding
from compile_lens.fixes.verify import Verifier
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.job import Job
from warm_host import WarmHost

HEAD = 'import math\n\nimport torch\n\n\n@torch.compile(backend="eager")\ndef f(x):\n'
CALLS = "\n\nfor x in (torch.ones(4), torch.full((4,), 0.1)):\n    f(x)\n"
NUMBER = (
    f"{HEAD}    size = math.sqrt(x.sum())\n    if size > 1:\n        x = x / 2\n    return x\n\n\nf(torch.ones(4))\n"
)
FOUND = (
    f"{HEAD}    y = x * 1\n    for limit in (0.0, 0.5):\n        (hit,) = torch.where(x > limit)\n"
    f"        if hit.shape[0] == 0:\n            continue\n        y[hit] = y[hit] * 2\n    return y\n{CALLS}"
)
EXIT = f"{HEAD}    for _ in range(9):\n        x = x / 2\n        if x.max() < 0.2:\n            return x\n    return x * 2\n{CALLS}"
UNROLLED = (
    f"{HEAD}    for w in (1.0, 2.0, 3.0):\n        x = x * w\n        if x.max() > 5:\n            return x\n    return x\n"
    "\n\nf(torch.ones(3))\nf(torch.full((3,), 4.0))\n"
)
PEAK = (
    f"{HEAD}    peak = x.abs().max().item()\n    if peak > 1.0:\n        x = x / peak\n    return x * 2\n\n\n"
    "f(torch.full((4,), 3.0))\n"
)
CACHE = (
    'import torch\n\n\n@torch.compile(backend="eager")\ndef f(ids, past):\n    last = ids[:, -1:]\n'
    "    past = last if past is None else torch.cat([past, last], 1)\n    done = False\n    if past.sum() > 100:\n"
    "        done = True\n    return torch.cat([ids, last], 1), past, done\n\n\n"
    "ids, past = torch.ones(2, 3), None\nfor _ in range(5):\n    ids, past, done = f(ids, past)\n"
)
ITEMS = (
    'import torch\n\n\n@torch.compile(backend="eager")\ndef f(xs):\n    return sum(x.sum() for x in xs)\n\n\n'
    "for n in (2, 3):\n    f([torch.ones(3)] * n)\n"
)


def repaired(
    text: str, warm_host: WarmHost, folder: Path, kinds: Collection[FixKind], wanted: Wanted = every_finding
) -> Repaired:
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    job = Job(str(file), text=text, timeout_s=60.0)
    verifier = Verifier(analyze, job, text, warm_host.run(job))
    return warm_host.wait_for(Repair(verifier, wanted, kinds).run(warm_host.shared()))


def test_a_fix_that_moves_a_break_is_applied_with_one_that_removes_it(warm_host: WarmHost, tmp_path: Path) -> None:
    made = repaired(NUMBER, warm_host, tmp_path, WITHOUT_LOSS)
    first, second = (step for step in made.steps)
    assert (first.effect is not None and first.effect.helps, second.is_proven) == (False, True)
    assert second.fix.rule == "where"
    assert (made.counts[1], made.remaining) == (FindingCounts(), ())


def test_what_holds_for_the_calls_of_this_run_alone_is_not_assumed_unasked(warm_host: WarmHost, tmp_path: Path) -> None:
    made = repaired(PEAK, warm_host, tmp_path, WITHOUT_LOSS)
    assert "_check" not in made.text
    assert "capture-and-check" not in [step.fix.rule for step in made.steps]


def test_two_fixes_for_one_finding_are_of_what_was_asked_for(warm_host: WarmHost, tmp_path: Path) -> None:
    made = repaired(NUMBER, warm_host, tmp_path, WITHOUT_LOSS, lambda finding, _: finding.code == "GB0033")
    assert [step.fix.rule for step in made.steps][1:] == ["where"]


def test_what_a_moved_break_leaves_to_the_user_is_said(warm_host: WarmHost, tmp_path: Path) -> None:
    made = repaired(FOUND, warm_host, tmp_path, WITHOUT_LOSS)
    (left,) = made.remaining
    capture = "capture-dynamic-output-shape-ops"
    assert f"; after {capture}, decide whether the branch may be skipped where torch does not know the size" in left.why
    assert left.why.count("; after ") == 1
    made = repaired(FOUND, warm_host, tmp_path, WITH_LOSS)
    assert [step.fix.rule for step in made.steps] == [capture, "guard-or-false"]
    assert made.counts[1].breaks == 0


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            EXIT,
            "compile the body of the loop as a function of its own, and decide outside of it whether to call it again",
        ),
        (UNROLLED, "it goes with the graph break"),
        (CACHE, "torch always specializes on sizes 0 and 1: avoid such a call (`drop_last=True`), or pad it"),
        (ITEMS, "pass `xs` with the same number of items in every call"),
    ],
)
def test_advice_is_given_where_no_fix_helps(text: str, advice: str, warm_host: WarmHost, tmp_path: Path) -> None:
    assert any(advice in left.why for left in repaired(text, warm_host, tmp_path, WITHOUT_LOSS).remaining)


def test_recompiles_of_what_was_not_compiled_at_all_are_no_harm() -> None:
    left_to_eager, compiled = FindingCounts(breaks=1), FindingCounts(recompiles=2)
    assert not FixEffect(left_to_eager, compiled, graphs=(0, 3)).harms
    assert FixEffect(left_to_eager, compiled, graphs=(1, 3)).harms
    assert FixEffect(FindingCounts(), compiled, graphs=(0, 3)).harms
