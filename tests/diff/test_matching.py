"""Which findings of two runs are the same: by the code that they stand at, whatever happened to its place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.diff.identity import Identity
from compile_lens.diff.matching import match

BREAK = Identity("model.py", "graph-break", "GB0059", "Net.forward", 'print("loss")', "Graph break: `print` …")
RECOMPILE = Identity(
    "model.py", "recompile", "recompile", "f", "def f(x):", "Recompiled `f`: size 0 of `x` changed (3 → 4)."
)


@pytest.mark.parametrize(
    "other",
    [
        BREAK,
        replace(BREAK, message="Graph break: `print` in other words."),
        replace(BREAK, function="Net.step"),
        replace(BREAK, file="net.py"),
        replace(BREAK, text='print("loss", step)'),
    ],
)
def test_it_is_the_same_after(other: Identity) -> None:
    assert match([BREAK], [other]).pairs == ((0, 0),)


@pytest.mark.parametrize(
    "other",
    [
        replace(BREAK, code="GB0170"),
        replace(BREAK, text="logger.info(state.summary())"),
        replace(BREAK, function="Net.step", text='print("loss", step)'),
        replace(BREAK, file="net.py", function="Net.step"),
    ],
)
def test_it_is_another_one(other: Identity) -> None:
    matched = match([BREAK], [other])
    assert (matched.gone, matched.new) == ((0,), (0,))


def test_recompiles_at_one_line_differ_by_their_cause_and_not_by_its_values() -> None:
    longer = replace(RECOMPILE, message="Recompiled `f`: size 0 of `x` changed (3 → 96).")
    dtype = replace(RECOMPILE, message="Recompiled `f`: dtype of `x` changed (float32 → float16).")
    assert match([RECOMPILE], [longer]).pairs == ((0, 0),)
    assert match([RECOMPILE], [dtype, longer]) == match([RECOMPILE], [dtype, RECOMPILE])
    assert match([RECOMPILE], [dtype, longer]).new == (0,)


def test_one_more_of_the_same_is_new() -> None:
    matched = match([BREAK], [BREAK, BREAK])
    assert (matched.pairs, matched.new) == (((0, 0),), (1,))


identities = st.builds(
    Identity,
    st.sampled_from(["a.py", "b.py"]),
    st.sampled_from(["graph-break", "recompile"]),
    st.sampled_from(["GB0059", "GB0170"]),
    st.sampled_from(["", "f", "g"]),
    st.sampled_from(["", "print(x)", "print(x, y)", "return x.item()"]),
    st.sampled_from(["m: a (1)", "m: a (2)", "m: b"]),
)


@given(st.lists(identities, max_size=8), st.lists(identities, max_size=8))
def test_each_finding_is_paired_once_or_told(before: list[Identity], after: list[Identity]) -> None:
    matched = match(before, after)
    assert sorted([*(one for one, _ in matched.pairs), *matched.gone]) == list(range(len(before)))
    assert sorted([*(other for _, other in matched.pairs), *matched.new]) == list(range(len(after)))
    assert all(before[one].code == after[other].code for one, other in matched.pairs)


@given(st.lists(identities, max_size=8))
def test_nothing_is_new_where_nothing_changed(findings: list[Identity]) -> None:
    matched = match(findings, list(reversed(findings)))
    assert not matched.new and not matched.gone
