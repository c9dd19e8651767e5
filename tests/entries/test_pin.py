"""Calls with made-up inputs in plain torch."""

from __future__ import annotations

import pytest

from compile_lens.entries.keep_inputs import as_comment, as_functions, as_python
from compile_lens.syntax.tree import parse


@pytest.mark.parametrize(
    ("call", "python"),
    [
        ("f(float32[2, 3])", "f(torch.randn(2, 3))"),
        ("f(float32[()])", "f(torch.randn(()))"),
        ("f(bool[()])", "f(torch.rand(()) < 0.5)"),
        ("f(int64[2] < 5)", "f(torch.randint(0, 5, (2,)))"),
        ("f(int64[()] < 5)", "f(torch.randint(0, 5, ()))"),
        ("f(int64[()] == 1)", "f(torch.full((), 1, dtype=torch.int64))"),
        ("M(n=4)((float16[3],))", "M(n=4)((torch.randn(3, dtype=torch.float16),))"),
    ],
)
def test_tensors_of_any_rank_are_written_as_the_torch_code_that_makes_them(call: str, python: str) -> None:
    assert as_python(call) == python


def test_an_object_that_other_calls_prepare_has_no_form_as_functions() -> None:
    tree = parse("class M: ...\n")
    assert as_functions(tree, "(m := M(), m.setup(2))[0](float32[2, 3])") is None
    assert as_functions(tree, "M()(float32[2, 3])") is not None


@pytest.mark.parametrize(
    "call",
    [
        "f(x)\nimport os",
        "f(x)\rimport os",
        "f(x)\x0cimport os",
        "f('\u202e')",
        "f(x) # \u2028",
        "import os",
        "(" * 100_000,
        "",
        "f('\ud800')",
    ],
)
def test_what_is_no_call_is_not_kept(call: str) -> None:
    """A program says what it was called with: nothing of that may become code of the user's file."""
    tree = parse("def f(x): ...\n")
    assert as_comment(tree, call) is None
    assert as_functions(tree, call) is None
