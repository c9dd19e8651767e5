"""Fixes whose text needs a newer torch than the one that found the finding are left out."""

from __future__ import annotations

import importlib
import inspect

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.analysis.kinds import Severity
from compile_lens.fixes.fix import Edit, Fix
from compile_lens.fixes.needed_torch import SINCE, can_run, needed
from compile_lens.fixes.offer import fixes_for
from compile_lens.syntax.tree import Range, parse

SIZES = """\
import torch


def f(x):
    return x * 2


compiled = [torch.compile(f) for _ in range(2)]
"""


def writes(text: str) -> Fix:
    return Fix("rule", "Title", (Edit(Range(1, 1, 1, 1), text),))


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("torch.compile(f, dynamic=True)", (0, 0)),
        ("torch.compile(f, shapes_spec=spec)", (2, 13)),
        ("@torch._dynamo.nonstrict_trace", (2, 7)),
        ("torch._higher_order_ops.print('{}', x)", (2, 10)),
        ("if guard_or_false(n > 3): torch.compile(f, isolate_recompiles=True)", (2, 13)),
        ("my_shapes_spec = 3", (0, 0)),
    ],
)
def test_the_newest_name_decides(text: str, since: tuple[int, int]) -> None:
    assert needed(writes(text)) == since


def test_a_version_is_compared_as_numbers_and_one_that_is_not_known_has_all() -> None:
    fix = writes("guard_or_true(n)")
    assert not can_run(fix, "2.7.1")
    assert can_run(fix, "2.8.0") and can_run(fix, "2.11.0+cu130") and can_run(fix, "") and can_run(fix, "unknown")


def test_it_is_not_offered_to_an_older_torch() -> None:
    finding = Finding("recompile", Kind.RECOMPILE, Severity.INFORMATION, "m", Place("p.py", 4, 1, 4, 9))
    rules = {
        torch: {fix.rule for fix in fixes_for(finding, parse(SIZES), torch=torch)} for torch in ("2.11.0", "2.13.0", "")
    }
    assert "isolate-recompiles" not in rules["2.11.0"]
    assert "isolate-recompiles" in rules["2.13.0"] == rules[""]


@pytest.mark.xdist_group("torch-in-this-process")
def test_the_installed_torch_has_them() -> None:
    import torch

    places = {
        **dict.fromkeys(("guard_filter_fn", "isolate_recompiles", "shapes_spec"), inspect.getsource(torch.compile)),
        **dict.fromkeys(("guard_or_false", "guard_or_true"), "torch.fx.experimental.symbolic_shapes"),
        **dict.fromkeys(("nonstrict_trace", "leaf_function"), "torch._dynamo.decorators"),
        "dynamic_spec": "torch.fx.experimental",
        "EffectType": "torch.library",
        "_higher_order_ops.print": "torch",
    }
    for name, since in SINCE.items():
        if since > tuple(map(int, torch.__version__.split(".")[:2])):
            continue
        place = places.get(name, "torch._dynamo.config")
        if place.startswith("torch"):
            module = importlib.import_module(f"{place}.{name}".rpartition(".")[0])
            assert hasattr(module, name.rpartition(".")[2]) or importlib.import_module(f"{place}.{name}"), name
        else:
            assert name in place, name
