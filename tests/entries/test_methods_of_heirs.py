"""A method of a class that inherits from another ends for the lack of data: it runs once more, to the model that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run
from tests.entries.sources import NET_OF_WIDTH

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = f"import torch\n\n\n{NET_OF_WIDTH}"
BASE = """\
from abc import ABC, abstractmethod


class Base(ABC):
    def __init__(self, options):
        self.options = options
        self.loader = self.load_data()
        self.model = self.build_model()

    @abstractmethod
    def load_data(self): ...

    @abstractmethod
    def build_model(self): ...
"""
TRAIN = """\
import os

from parts.base import Base
from parts.net import Net


class Training(Base):
    def load_data(self):
        return [open(name) for name in os.listdir(self.options["data"])]

    def build_model(self):
        return Net(self.options["width"])


class Plain(dict):
    def __init__(self, width):
        self.data = open("none/data.txt").read()
        self.model = Net(width)


{made}
"""


@pytest.mark.parametrize(
    ("made", "line"), [('Training({"data": "none/here", "width": 24})', 12), ("Plain(24)", 18)], ids=["base", "own"]
)
def test_its_model_is_analyzed(tmp_path: Path, warm_host: WarmHost, made: str, line: int) -> None:
    files = {"parts/__init__.py": "", "parts/net.py": NET, "parts/base.py": BASE, "train.py": TRAIN.format(made=made)}
    project(tmp_path, {"setup.py": "", **files})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [(call.making, ", 24]" in call.inputs) for call in outcome.calls] == [(f"Net from line {line}", True)]
    assert [f.code for f in outcome.findings if f.kind.value != "variation"] == ["missing-data"]


@pytest.mark.parametrize(("in_heirs", "is_guarded"), [(True, True), (False, False)])
def test_what_may_be_a_module_has_guards_only_where_it_is_known_to_be_none(in_heirs: bool, is_guarded: bool) -> None:
    continuing = agent_module("inputs.scripts.continuing")
    names = {continuing.GUARD: agent_module("inputs.scripts.guard").Guard(60.0, lambda _: None, lambda *_: None)}
    text = "class A(dict):\n    def f(self):\n        return 1 / 0\n"
    exec(continuing.rewritten(text, "script.py", in_heirs=in_heirs), names)
    assert (continuing.GUARD in names["A"].f.__code__.co_names) is is_guarded
