"""Classes that leave their work to subclasses run by way of a subclass, of the file or of the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
HEAD = "import torch\nfrom torch import nn\n"
# `forward` is whole, and needs a method that is not
PROCESS = (
    HEAD
    + """\
class Step(nn.Module):
    def forward(self, x):
        return self.step(x).relu()

    def step(self, x):
        '''What each step does.'''
        message = f"{type(self).__name__} defines no step"
        raise NotImplementedError(message)
"""
)
ABSTRACT = (
    HEAD
    + """\
from abc import ABC, abstractmethod


class Score(nn.Module, ABC):
    def weighted(self, x):
        return x * 2

    @abstractmethod
    def forward(self, x):
        ...
"""
)
HEIRS = {
    "Step": """\
from torch import nn
from .base import Step


class Linear(Step):
    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def step(self, x):
        return self.linear(x)
""",
    "Score": """\
from . import base


class Doubled(base.Score):
    def forward(self, x):
        return self.weighted(x).mean()
""",
}


@pytest.mark.parametrize(("name", "text"), [("Step", PROCESS), ("Score", ABSTRACT)])
def test_a_base_class_runs_by_way_of_a_class_of_the_package(
    tmp_path: Path, warm_host: WarmHost, name: str, text: str
) -> None:
    write(tmp_path, "", "pkg/__init__.py")
    write(tmp_path, HEIRS[name], "pkg/heirs.py")
    outcome = run(warm_host, write(tmp_path, text, "pkg/base.py"))
    assert [call.target for call in outcome.calls] == [name]
    assert outcome.calls[0].text.startswith("pkg.heirs.")
    assert outcome.graphs


def test_a_base_class_without_subclasses_says_so(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, ABSTRACT))
    assert not outcome.calls
    assert "it leaves its work to subclasses" in outcome.failure


def test_base_classes_are_targets_after_what_can_be_called() -> None:
    text = ABSTRACT + "\n\nclass Whole(nn.Module):\n    def forward(self, x):\n        return x\n"
    assert [(target.name, target.only_module) for target in find_targets(parse(text))] == [
        ("Whole", False),
        ("Score", True),
    ]


def test_a_file_that_fails_at_its_import_says_also_why_nothing_was_called(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, f"from os import no_such_name\n{ABSTRACT}"))
    assert [finding.place.line for finding in outcome.findings] == [1]
    assert any("it leaves its work to subclasses" in note for note in outcome.notes)


def test_a_name_that_the_file_does_not_define_is_no_matter_of_inputs(tmp_path: Path, warm_host: WarmHost) -> None:
    text = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
    outcome = run(warm_host, write(tmp_path, text))
    assert outcome.failure.endswith("name 'torch' is not defined: no call returns before the file defines it.")
    assert outcome.coverage is not None and not outcome.coverage.units[0].draft


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = Part()\n\n"
            "    def forward(self, x):\n        return self.part(x)\n",
            "name 'Part' is not defined: no call returns before the file defines it.",
        ),
        (
            "import itertools\nclass Net(nn.Module):\n    def forward(self, x):\n        return itertools.no_such_tool(x)\n",
            "module 'itertools' has no attribute 'no_such_tool': no call returns with the installed version.",
        ),
    ],
)
def test_where_no_inputs_help_none_are_asked_for(tmp_path: Path, warm_host: WarmHost, text: str, end: str) -> None:
    outcome = run(warm_host, write(tmp_path, f"{HEAD}{text}"))
    assert outcome.failure.endswith(end)
    assert outcome.coverage is not None and not outcome.coverage.units[0].draft


WITH_PARTS_UNSET = (
    HEAD
    + """\
class Separable(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.first = None

    def forward(self, x):
        assert self.first is not None, "it has no layer"
        return self.first(x).relu()
"""
)


def test_a_class_that_fails_without_what_its_heirs_set_runs_by_way_of_one(tmp_path: Path, warm_host: WarmHost) -> None:
    write(tmp_path, "", "pkg/__init__.py")
    heirs = """\
from torch import nn
from .base import Separable


class Other(Separable):
    def forward(self, x):
        return x


class Pointwise(Separable):
    def __init__(self, width: int):
        super().__init__()
        self.first = nn.Linear(width, width)
"""
    write(tmp_path, heirs, "pkg/heirs.py")
    outcome = run(warm_host, write(tmp_path, WITH_PARTS_UNSET, "pkg/base.py"))
    assert [call.target for call in outcome.calls] == ["Separable"]
    assert outcome.calls[0].text.startswith("pkg.heirs.Pointwise(")
