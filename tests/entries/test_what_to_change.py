"""What is said of a call to complete: the arguments that the error is about, those beside them, and what the source says of each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.agent.runtime import entry_protocol
from compile_lens.analysis.outcome_parts import what_failed

pytestmark = pytest.mark.xdist_group("torch-in-this-process")
NAME = "a_file_with_calls_to_complete"
SOURCE = """\
import math

import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, config: dict, rate: float):
        super().__init__()
        self.config = config

    def set_rows(self, rows):
        self.rows = rows

    def forward(self, pred, label, mask: torch.Tensor):
        '''Compute it.

        Args:
            label: the class of each row. All are below ten.
        '''
        x = pred["energy"] + pred["forces"]  # (B, T)
        return x.reshape(self.missing) if mask is None else x.sum(label)


class Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.twice = 2 * self.width


class Kept(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.twice = 2 * self.width if width > 3 else 1


class Of(nn.Module):
    def __init__(self, part: type):
        super().__init__()
        self.part = part(4)


class OfBlock(nn.Module):
    def __init__(self, rows: int):
        super().__init__()
        self.part = Block(rows)


class Reads(nn.Module):
    def __init__(self, config: object):
        super().__init__()
        self.twice = 2 * config.width


class Given(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        for name in ("width",):
            setattr(self, name, width)
        self.twice = 2 * self.depth


class Needs(nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        import a_library_that_is_nowhere


class MayNeed(nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        if fast:
            import a_library_that_is_nowhere


class Asks(nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        self.first = math.no_such_tool(fast)


class MayAsk(nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        self.first = math.no_such_tool(fast) if fast else fast


def by_law(width):
    return chi.rvs(width)


def evenly(width):
    return width


class Lacks(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.first = by_law(width)


class MayLack(nn.Module):
    def __init__(self, width: int, law: str = "chi"):
        super().__init__()
        make = {"chi": by_law, "even": evenly}[law]
        self.first = make(width)
"""


@pytest.fixture(autouse=True)
def _only_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop(NAME, None)


def module_of(folder: Path, source: str) -> ModuleType:
    (folder / f"{NAME}.py").write_text(source)
    return importlib.import_module(NAME)


def error_of(module: ModuleType, text: str) -> BaseException:
    with pytest.raises(Exception) as caught:
        eval(text, vars(module))
    return caught.value


def test_arguments_beside_those_of_the_error_are_named_and_described(tmp_path: Path) -> None:
    module, changes = module_of(tmp_path, SOURCE), agent_module("inputs.synthesis.what_to_change")
    draft = "(m := Loss(config={}, rate=1.0), m.set_rows(rows=3))[0](pred={}, label=1, mask=float32[2])"
    error = error_of(module, "Loss({}, 1.0)({'energy': torch.ones(2), 'forces': torch.ones(2)}, 'x', 1)")
    told = changes.not_made(module, "Loss", "TypeError: …", draft, error, str(module.__file__))
    assert told.involved == ("mask", "label")
    assert told.beside == ("pred", "rows", "config", "rate")
    said = dict(zip((*told.involved, *told.beside), told.said, strict=True))
    assert said["pred"] == "with `energy`, `forces`"
    assert said["label"] == "the class of each row"
    assert (said["config"], said["rate"], said["rows"]) == ("`dict`", "`float`", "")


def test_the_sentence_says_what_to_change_and_what_to_check() -> None:
    told = what_failed(3, "x = y", ("a",), ("b", "c"), ("`[B, T]`", "", "`int`"))
    assert told == "It fails at line 3 (`x = y`): change `a` (`[B, T]`). Check `b`, `c` (`int`), too."
    assert what_failed(0, "", ("a",)) == "Change `a`."
    assert what_failed(0, "", (), ("b",)) == "Check `b`."
    assert what_failed(0, "", ()) == ""


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("Block(4)", entry_protocol.NEVER_SET),
        ("Kept(4)", ""),
        ("OfBlock(4)", entry_protocol.NEVER_SET),
        ("Of(Block)", ""),
        ("Reads(OfBlock.__new__(OfBlock))", ""),
        ("Needs(True)", entry_protocol.NOT_IMPORTED),
        ("MayNeed(True)", ""),
        ("Asks(True)", entry_protocol.OTHER_VERSION),
        ("MayAsk(True)", ""),
        ("Lacks(4)", entry_protocol.UNDEFINED_NAME),
        ("MayLack(4)", ""),
    ],
)
def test_what_no_argument_helps_is_said(tmp_path: Path, call: str, why: str) -> None:
    own = SOURCE.partition("class Given")[0] + SOURCE[SOURCE.index("class Needs") :]
    module, reasons = module_of(tmp_path, own), agent_module("inputs.synthesis.no_call")
    assert reasons.no_call_returns(error_of(module, call)) == why


def test_an_attribute_that_may_be_set_under_any_name_may_be_there(tmp_path: Path) -> None:
    module, reasons = module_of(tmp_path, SOURCE), agent_module("inputs.synthesis.no_call")
    assert reasons.no_call_returns(error_of(module, "Given(4)")) == ""


def test_a_word_with_an_x_in_it_is_no_shape() -> None:
    written = agent_module("inputs.synthesis.source.shape_text").written_shape
    assert [written(text) for text in ("context tokens", "the index of each")] == [None, None]
    assert written("next context, rows x text") == ("rows", "text")
    assert (written("BxTxC"), written("3 x 4")) == (("B", "T", "C"), ("3", "4"))


CACHED = """

class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = None

    def set_rows(self, count: int):
        self.rows = torch.ones(count)

    def forward(self, x):
        assert self.rows is not None, "call set_rows first"
        scaled = x * 2
        raise ValueError("never with these rows")
"""


def test_a_call_that_came_further_after_a_method_is_told_with_the_method(tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE + CACHED)
    target, search = agent_module("inputs.synthesis.target"), agent_module("inputs.synthesis.trying.search")
    with pytest.raises(search.NotFound) as told:
        target.find_call(module, "Cached", search.SearchBudget(50, 5.0))
    assert str(told.value) == "`set_rows()` must be called first, and after that: ValueError: never with these rows"
    assert told.value.draft.startswith("(m := Cached(), m.set_rows(count=")
