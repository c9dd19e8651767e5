"""A program may forge what torch says of it. Nothing that it chooses becomes code in a fix, or a character that nobody sees."""

from __future__ import annotations

import ast

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.fixes.fix import apply_fix
from compile_lens.fixes.offer import fixes_for
from compile_lens.shown_text import visible
from compile_lens.syntax.tree import parse

TEXT = """\
import torch


def helper(x):
    print(x)
    return x


@torch.compile
def f(x):
    return helper(x) * 2


for n in (3, 4):
    y = torch.ones(n)
    f(y)
"""
NAMES = (
    "x[evil()]",
    'x[__import__("evil").system("id")]',
    "x if evil() else x",
    "x + evil()",
    "x.of[[evil() for i in [1]][0]]",
    "(evil := x)",
    "x[lambda: evil()]",
    "x[f'{evil()}']",
    "x], evil(), [x",
    "x); evil(); (x",
    "x\n    evil()\n    x",
)
GUARDS = (
    "tensor '{}' size mismatch at index 0. expected 3, actual 4",
    "tensor '{}' stride mismatch at index 0. expected 3, actual 4",
    "tensor '{}' dtype mismatch. expected Float, actual Half",
    "{} == 3",
    "{} == 3.5",
    "len({}) != 3",
    "___check_type_id({}, 94)",
    "___check_obj_id({}, 94)",
    "{}.rate == 1.0",
    "expected type of '{}' to be a tensor type, but found <class 'int'>",
)
UNSEEN = "a\x1b[2J\u202eb\u2066\x00\ud800\x0c\u200bc"


def changed_by(finding: Finding) -> list[str]:
    tree = parse(TEXT)
    return [apply_fix(TEXT, fix) for fix in fixes_for(finding, tree)]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_a_guard_names_becomes_code(name: str) -> None:
    for guard in GUARDS:
        for kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
            detail = f"[0/1] against 0/0: {guard.format(name)}\n[0/1] made for {name} of size [None, 8]"
            place = Place("/f.py", 10, 5, 10, 6)
            for text in changed_by(Finding(kind.value, kind, Severity.WARNING, name, place, detail=detail)):
                assert "evil" not in text, guard


def test_a_key_is_written_as_it_is() -> None:
    detail = "[0/1] against 0/0: tensor 'x['{a}']' size mismatch at index 0. expected 3, actual 4"
    finding = Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "", Place("/f.py", 10, 5, 10, 6), detail=detail)
    assert any("torch._dynamo.mark_dynamic(y['{a}'], 0)" in text for text in changed_by(finding))


@pytest.mark.parametrize("number", ["9" * 4300, "9" * 5000, "²"], ids=["longest", "too-long", "no-number"])
def test_a_number_that_none_is_costs_no_fix(number: str) -> None:
    for guard in (
        f"tensor 'x' size mismatch at index 0. expected {number}, actual 4",
        f"tensor 'x' size mismatch at index {number}. expected 3, actual 4",
        f"L['x'].size()[{number}] == 3",
        f"x == {number}",
    ):
        detail = f"[0/1] against 0/0: {guard}\n[0/1] made for x of size [None, 8]"
        place = Place("/f.py", 10, 5, 10, 6)
        assert changed_by(Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "", place, detail=detail))


def test_no_message_brings_what_is_never_seen_into_a_file() -> None:
    for line in (5, 10, 11):
        place = Place("/f.py", line, 5, line, 13)
        for kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
            made = changed_by(
                Finding(
                    "GB0059", kind, Severity.WARNING, f"Graph break: {UNSEEN}", place, UNSEEN, (UNSEEN,), detail=UNSEEN
                )
            )
            assert made
            for text in made:
                assert visible(text) == text
                ast.parse(text)
