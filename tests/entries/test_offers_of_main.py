"""Every class that is not analyzed has a call to complete, whatever failed; so has what most of a file is about, beside a script."""

from __future__ import annotations

import importlib
import sys
import types
import typing
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.test_entry_runs import run, write

from compile_lens.agent.runtime.entry_protocol import LEFT_OPEN, NO_CALL_RETURNS, UNDEFINED_NAME
from compile_lens.analysis.coverage import NotCalled, measure
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.entries.calls_to_complete import call_to_complete, words_of_arguments
from compile_lens.pipeline.main_of_file import with_offer
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
SOURCE = """\
import torch
from torch import nn
from elsewhere import Base


class Net(nn.Module):
    def __init__(self, width: int, specs: "list[Spec]", *, rate=0.1, **rest):
        super().__init__()

    def forward(self, x: torch.Tensor, mask=None, *more):
        return x

    def _embed(self, x):
        return x

    @classmethod
    def of_file(cls, path):
        return cls(1, [])


class Heir(Net):
    def forward(self, tokens):
        return tokens


class OfElsewhere(Base):
    def run(self, x):
        return x


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        return x * by


def scaled(x: torch.Tensor, by):
    return x * by


net = Net(8, specs=make(), rate=0.5)
"""
SCRIPT = """\
import zlib

import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class Whole(nn.Module):
    def __init__(self, code: str, width: int = 4):
        super().__init__()
        assert zlib.crc32(code.encode()) == 7, "another code"
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        x = self.first(x)
        x = torch.relu(x)
        return self.second(x)


if __name__ == "__main__":
    model = Small()
    print(model(torch.ones(2, 4)).sum())
"""


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("Net", "Net(width=..., specs=..., rate=0.5)(x=...)"),
        ("Heir", "Heir(width=..., specs=...)(tokens=...)"),
        ("OfElsewhere", "OfElsewhere(...)(...)"),
        ("OfElsewhere.run", "OfElsewhere(...).run(x=...)"),
        ("Net._embed", "Net(width=..., specs=..., rate=0.5)._embed(x=...)"),
        ("Net.of_file", "Net.of_file(path=...)"),
        ("Twice.apply", "Twice.apply(..., ...)"),
        ("scaled", "scaled(x=..., by=...)"),
        ("absent", ""),
    ],
)
def test_a_call_is_written_from_the_signature(name: str, call: str) -> None:
    tree = parse(SOURCE.replace("net = Net(8, specs", "net = Net(size(), specs"))
    assert call_to_complete(tree, name) == call


def test_the_arguments_that_are_open_are_told_with_their_annotations() -> None:
    assert words_of_arguments(parse(SOURCE), "Net") == {
        "x": "`torch.Tensor`",
        "width": "`int`",
        "specs": '`"list[Spec]"`',
    }
    assert words_of_arguments(parse(SOURCE), "scaled") == {"x": "`torch.Tensor`", "by": ""}
    static = parse("class Grid:\n    @staticmethod\n    def of(rows: int, columns):\n        return rows\n")
    assert words_of_arguments(static, "Grid.of") == {"rows": "`int`", "columns": ""}
    assert call_to_complete(static, "Grid.of") == "Grid.of(rows=..., columns=...)"


@pytest.mark.parametrize(
    "reason",
    [
        "IndexError: tuple index out of range",
        "its constructor failed: KeyError: 'tiny'",
        "it did not return within 8 s",
        "the search reached Python's recursion limit",
        "the process that searched for its inputs exited early",
        "the limit of 36 s was reached; a higher `run.timeout` raises it",
        "it ended the program with sys.exit(3)",
        "the call `Net(2)(3)` ended the process that made it",
        "",
    ],
)
def test_whatever_failed_a_class_has_a_call_to_complete(reason: str) -> None:
    coverage = measure(parse(SOURCE), (), (), (), [NotCalled("Net", reason)] if reason else [])
    assert coverage is not None
    units = {unit.name: unit for unit in coverage.units}
    assert units["Net"].draft == "Net(width=8, specs=..., rate=0.5)(x=...)"
    assert units["Net"].beside == ("x", "width", "specs")


@pytest.mark.parametrize("reason", [*(f"it failed: {why}" for why in NO_CALL_RETURNS), LEFT_OPEN])
def test_no_call_is_offered_where_none_returns(reason: str) -> None:
    coverage = measure(parse(SOURCE), (), (), (), [NotCalled("Net", reason)])
    assert coverage is not None
    assert [unit.draft for unit in coverage.units if unit.name == "Net"] == [""]


class _RaisesWhenCompared:
    __origin__ = list
    __args__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")


def test_an_annotation_may_be_any_object(capsys: pytest.CaptureFixture[str]) -> None:
    guesser, infos = (
        agent_module("inputs.synthesis.guessing.argument_guesser"),
        agent_module("inputs.synthesis.terms.parameter_info"),
    )
    unknowns = agent_module("inputs.synthesis.terms.dimensions").Unknowns()
    guess = guesser.ArgumentGuesser(types.ModuleType("odd"), unknowns)
    for hint in (typing.Type, typing.List, typing.Dict, typing.Callable, typing.Tuple[()], _RaisesWhenCompared()):  # noqa: UP006
        for _ in range(2):
            assert guess.for_constructor(None, infos.ParameterInfo("part", True, None, "", hint=hint))
    assert capsys.readouterr().err.count("RuntimeError: compared") <= 1
    assert agent_module("inputs.synthesis.project.concrete_classes").class_in(typing.Type) is None  # noqa: UP006


def test_a_draft_has_an_open_argument_where_nothing_can_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = agent_module("inputs.synthesis.drafts")
    module = types.ModuleType("drafted")
    exec("def scaled(x, by): return x * by", vars(module))
    monkeypatch.setitem(sys.modules, "drafted", module)

    def fails(self: object, info: object, expected: object) -> None:
        raise RuntimeError("guessed")

    monkeypatch.setattr(drafts.ArgumentGuesser, "for_input", fails)
    assert drafts.draft_of(module, "scaled", {}, {}) == "scaled(x=..., by=...)"


LAZY = """\
import torch


class Kernel(torch.nn.Module):
    def __call__(self, *inputs):
        return lambda: self.forward(*inputs)
"""


def test_what_a_library_calls_later_is_drafted_as_the_file_defines_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts, library = agent_module("inputs.synthesis.drafts"), tmp_path / "site-packages"
    library.mkdir()
    (library / "lazy_kernels.py").write_text(LAZY)
    own = "from lazy_kernels import *\n\n\nclass Own(Kernel):\n    def forward(self, x): return x\n\n\n"
    usual = "class Usual(torch.nn.Module):\n    def forward(self, x): return x\n"
    (tmp_path / "own_kernels.py").write_text(f"import torch\n{own}{usual}")
    monkeypatch.syspath_prepend(library)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("own_kernels")
    assert drafts.draft_of(module, "Own", {}, {}) == "Own().forward(x=float32[2, 16, 16])"
    assert drafts.draft_of(module, "Usual", {}, {}) == "Usual()(x=float32[2, 16, 16])"
    for name in ("own_kernels", "lazy_kernels"):
        sys.modules.pop(name, None)


def _outcome(**fields: typing.Any) -> Outcome:
    known: dict[str, typing.Any] = {"file": "x.py", "python": "", "torch": "", "depth": "", "entry": "model"}
    return Outcome(**{**known, "status": Status.OK, "duration_s": 0.0, **fields})


def test_the_offer_says_what_the_entries_that_were_tried_tell() -> None:
    tree, outcome = parse(SOURCE), _outcome(notes=("Not analyzed: `Net` (KeyError: 'a').",))
    told = NotCalled("Net", "KeyError: 'a'", "Net(width=2, specs=[])(x=float32[2])", 8, ("specs",))
    offer = with_offer(outcome, "Net", tree, [outcome, _outcome(not_called=(told,))])
    (note,) = offer.notes
    assert note == (
        "Not analyzed: `Net`, which most of the file is about (KeyError: 'a'). "
        "It fails at line 8 (`super().__init__()`): change `specs`. "
        "Complete this call: --entry 'Net(width=2, specs=[])(x=float32[2])'"
    )
    none = NotCalled("Net", f"NameError: {UNDEFINED_NAME}")
    assert with_offer(outcome, "Net", tree, [_outcome(not_called=(none,))]).notes == outcome.notes
    failed = with_offer(_outcome(status=Status.FAILED, failure="Nothing."), "Net", tree, [])
    assert failed.failure.startswith("Nothing. Not analyzed: `Net`, which most of the file is about.")
    assert with_offer(failed, "Net", tree, []) is failed
    listed = _outcome(coverage=measure(tree, (), (), (), ()))
    assert with_offer(listed, "Net", tree, [listed]) is listed


def test_beside_a_script_the_class_that_most_of_the_file_is_about_is_offered(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    outcome = run(warm_host, write(tmp_path, SCRIPT))
    assert any(call.target == "Small" for call in outcome.calls)
    (note,) = (note for note in outcome.notes if note.startswith("Not analyzed"))
    assert note.startswith("Not analyzed: `Whole`, which most of the file is about (its constructor failed: Assertion")
    assert "It fails at line 19" in note
    assert "--entry 'Whole(code=" in note or '--entry "Whole(code=' in note
