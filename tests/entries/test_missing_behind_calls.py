"""Where a library is missing or has changed, the call of a model says so, and is not offered as if a value helped."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.agent.runtime.entry_protocol import NOT_IMPORTED, NOT_PASSED
from compile_lens.analysis.coverage import NotCalled, measure
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")
MODULE = """\
import functools
import torch


class Measure:
    def __new__(cls, task, *, top=1):
        return object.__new__(cls)


class metrics:
    Measure = Measure


class Judged(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.measure = metrics.Measure(top=2)


class Given(torch.nn.Module):
    def __init__(self, metrics):
        super().__init__()
        self.measure = metrics.Measure(top=2)


class Rows(list):
    def __iter__(self):
        raise ValueError("they are not read yet")


class Looped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        rows = [Rows([1])]
        rows.append(rows)
        self.name = "".join([wrap(1)])


class Holds(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.nn.Identity()
        self.part = wrap(1)
"""


def error_of(module: object, text: str) -> BaseException:
    with pytest.raises(TypeError) as caught:
        eval(text, vars(module))
    return caught.value


def test_what_a_class_of_a_module_requires_and_the_file_leaves_out(tmp_path: Path) -> None:
    module, no_call = imported(tmp_path / "judged.py", MODULE), agent_module("inputs.synthesis.no_call")
    assert no_call.no_call_returns(error_of(module, "Judged()")) == NOT_PASSED
    assert no_call.no_call_returns(error_of(module, "Given(metrics)")) == ""


def test_a_stub_that_is_used_as_what_it_is_not_says_what_is_missing(tmp_path: Path) -> None:
    module, absent = imported(tmp_path / "holds.py", MODULE), agent_module("inputs.importing.absent")
    missing = ModuleNotFoundError("No module named 'wrappers'")
    setattr(module, "wrap", absent.PartStub(missing))  # noqa: B010 - the module has no such name
    error = error_of(module, "Holds()")
    assert "PartStub" in str(error)
    assert absent.behind(error) is missing
    assert absent.behind(error_of(module, "Looped()")) is missing
    own = error_of(module, "Judged()")
    assert absent.behind(own) is own


def test_how_to_install_what_stops_a_model_is_said_with_it() -> None:
    tree = parse("import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n")
    reason = "its constructor failed: ModuleNotFoundError: No module named 'cvxpy'"
    for why, draft in ((reason, "Net()(x=...)"), (f"{reason}: {NOT_IMPORTED}", "")):
        coverage = measure(tree, (), (), (), [NotCalled("Net", why)])
        assert coverage is not None
        (unit,) = coverage.units
        assert unit.reason == f"{why}. Install it for the interpreter of the run: `pip install cvxpy`"
        assert unit.draft == draft
