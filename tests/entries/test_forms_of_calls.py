"""A call may be any expression that ends with one; what is refused says which forms there are."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.sources import MODEL

from compile_lens.agent.runtime.entry_plans import CompileAt, WrittenCall
from compile_lens.entries.entry_spec import BadEntry, read_entry
from compile_lens.syntax.tree import parse

LINE = 20


@pytest.mark.parametrize(
    "call",
    [
        "Block(8, 2)(float32[1, 2, 8])",
        "(m := Block(8, 2), str(m))[0](float32[1, 2, 8])",
        "(print('first'), Block(8, 2))[1](float32[1, 2, 8])",
        "[Block(8, 2), None][0](float32[1, 2, 8])",
        "(lambda: Block(8, 2))()(float32[1, 2, 8])",
    ],
)
def test_any_expression_that_ends_with_a_call_is_one(call: str) -> None:
    plan = read_entry(call, "", "model.py", parse(MODEL), ()).plan
    assert isinstance(plan, WrittenCall)
    assert plan.text == call
    if "print" not in call:
        assert plan.compile == CompileAt(LINE)
    made = agent_module("inputs.calling.expressions").evaluate(call, {"Block": lambda *_: abs, "print": print})
    assert made.target is abs


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Block(8, 2", "is not a Python expression ('(' was never closed)"),
        ("Block(8, 2).weight", "does not end with a call"),
        ("(Block(8), 1)", "does not end with a call"),
    ],
)
def test_a_refusal_says_which_forms_a_call_has(text: str, why: str) -> None:
    with pytest.raises(BadEntry) as refused:
        read_entry(text, "", "model.py", parse(MODEL), ())
    assert str(refused.value).startswith(
        f"'{text}' {why}. A call has a form such as `Block(dim=64)(float32[2, 16, 64])`"
    )
    assert "`(m := Block(dim=64), m.setup(rows=4))[0](x=float32[2, 16])`" in str(refused.value)
