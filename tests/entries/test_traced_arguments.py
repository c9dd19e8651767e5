"""What failed is followed back to the argument, the default or the method that it comes from, and the call to complete has it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

NAME = "traced_program"
SOURCE = """\
import torch
from torch import nn


class Layers(nn.Module):
    def __init__(self, features: int, classes: int, hidden=None):
        super().__init__()
        sizes = list(hidden or ())
        self.last = nn.Linear(sizes[-1], classes)

    def forward(self, x):
        return self.last(x)


class Keeps(nn.Module):
    def __init__(self, width: int, table=(), scale=1.0):
        super().__init__()
        rows = list(table)
        self.rows = rows
        self.width = width

    def forward(self, x, index):
        row = self.rows[0]
        return x * row


def by_law(width):
    return law.rvs(width)


def evenly(width):
    return torch.ones(width)


class Chosen(nn.Module):
    def __init__(self, width: int, size: int, kind="law"):
        super().__init__()
        self.make = {"law": by_law, "even": evenly}[kind]
        self.fill(width)

    def fill(self, width):
        self.weight = nn.Parameter(self.make(width))

    def forward(self, x):
        return x * self.weight


class OneOf(nn.Module):
    def __init__(self, shape, from_rows=None, of_rows=None):
        super().__init__()
        if (from_rows is None) == (of_rows is None):
            raise ValueError("Either of_rows or from_rows should be given.")

    def forward(self, x):
        return x


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def set_mask(self, rows: int):
        self.mask = torch.ones(rows)

    def forward(self, x, index):
        return x * self.mask[index]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = None

    def step(self, x):
        return x * self.state[0]

    def forward(self, x, index):
        out = self.step(x)
        self.state = out
        return out


class Cleared(Masked):
    def clear(self):
        self.mask = None


class Several(Masked):
    def load_mask(self, path: str):
        self.mask = torch.load(path)


class Whole(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.net = Masked()

    def forward(self, x, index):
        return self.net(x, index)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"{NAME}.py").write_text(SOURCE)
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME, None)


def told(module: Any, call: str, draft: str, reason: str = "it failed") -> Any:
    import torch

    changes = agent_module("inputs.synthesis.what_to_change")
    with pytest.raises(Exception) as caught:
        eval(call, {**vars(module), "torch": torch})
    entry = caught.value.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename != module.__file__:
        entry = entry.tb_next  # the test is no part of the program
    caught.value.__traceback__ = entry
    return changes.not_made(module, "Net", reason, draft, caught.value, str(module.__file__))


IN_CONSTRUCTOR = "its constructor failed: Error"


@pytest.mark.parametrize(
    ("call", "draft", "reason", "involved", "completed"),
    [
        (
            "Layers(8, 2)",
            "Layers(features=8, classes=2)(x=float32[2, 8])",
            IN_CONSTRUCTOR,
            "hidden",
            "Layers(features=8, classes=2, hidden=None)(x=float32[2, 8])",
        ),
        (
            "Keeps(4)(torch.ones(2), 1)",
            "Keeps(width=4)(x=float32[2], index=1)",
            "IndexError: …",
            "table",
            "Keeps(width=4, table=())(x=float32[2], index=1)",
        ),
        (
            "Chosen(4, 2)",
            "Chosen(width=4, size=2)(x=float32[4])",
            IN_CONSTRUCTOR,
            "kind",
            "Chosen(width=4, size=2, kind='law')(x=float32[4])",
        ),
        (
            "OneOf([4])",
            "OneOf(shape=[4])(x=float32[4])",
            IN_CONSTRUCTOR,
            "of_rows",
            "OneOf(shape=[4], of_rows=None, from_rows=None)(x=float32[4])",
        ),
    ],
)
def test_the_argument_that_a_failure_comes_from_is_named_first(
    module: Any, call: str, draft: str, reason: str, involved: str, completed: str
) -> None:
    found = told(module, call, draft, reason)
    assert found.involved[0] == involved
    assert found.draft == completed


def test_the_texts_that_an_argument_may_be_are_told(module: Any) -> None:
    found = told(module, "Chosen(4, 2)", "Chosen(width=4, size=2)(x=float32[4])", IN_CONSTRUCTOR)
    assert found.involved[0] == "kind"
    assert found.said[0] == "one of `'law'`, `'even'`"


def test_the_method_that_alone_sets_an_attribute_comes_first_in_the_call(module: Any) -> None:
    found = told(module, "Masked()(torch.ones(2), 0)", "Masked()(x=float32[2], index=0)")
    assert found.draft.startswith("(m := Masked(), m.set_mask(rows=")
    assert found.draft.endswith(")[0](x=float32[2], index=0)")
    assert (found.involved, found.beside) == (("rows",), ("x", "index"))
    assert found.said == ("`int`", "", "")
    assert found.reason == "it failed; only `set_mask()` sets `mask`: call it first"


def test_no_method_comes_first_that_was_running_or_is_one_of_several(module: Any) -> None:
    for name in ("Recurrent", "Several"):
        found = told(module, f"{name}()(torch.ones(2), 0)", f"{name}()(x=float32[2], index=0)")
        assert (found.reason, found.draft) == ("it failed", f"{name}()(x=float32[2], index=0)")
    found = told(module, "Cleared()(torch.ones(2), 0)", "Cleared()(x=float32[2], index=0)")
    assert found.draft.startswith("(m := Cleared(), m.set_mask(rows=")


def test_of_a_part_the_method_is_told_with_its_path(module: Any) -> None:
    found = told(module, "Whole(4)(torch.ones(2), 0)", "Whole(width=4)(x=float32[2], index=0)")
    assert found.draft == "Whole(width=4)(x=float32[2], index=0)"
    start = "it failed; only `set_mask()` sets `mask`: call it first, as in `(m := Whole(width=4), m.net.set_mask(rows="
    assert found.reason.startswith(start)


def test_words_of_a_sentence_are_no_names_of_arguments() -> None:
    named = agent_module("inputs.synthesis.completed_drafts").named_by
    assert named(ValueError("input must be larger than size"), ["input", "size"]) == []
    assert named(ValueError("`size` must be larger than 'input'"), ["input", "size"]) == ["size", "input"]
    assert named(ValueError("use head_dim=4, or width=2"), ["width", "head_dim"]) == ["head_dim", "width"]
    assert named(KeyError("size"), ["size"]) == []
