"""A part without defaults gets the words and the few numbers that the file gives to parameters of the same name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

found: Any = agent_module("inputs.synthesis.source.defaults_elsewhere")

FILE = """
class Part:
    def __init__(self, width, padding_mode, rates, place, shape, wide): ...


class Whole:
    def __init__(self, width=64, padding_mode="reflect", rates=(1, 2, 4), shape=(721, 1440)): ...
    def called(self, place="bottom", wide=None): ...
"""


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("file_with_defaults")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(FILE, vars(module))
    return vars(module)["Part"]


@pytest.mark.parametrize(("name", "default"), [("padding_mode", "reflect"), ("rates", (1, 2, 4)), ("place", "bottom")])
def test_words_and_few_small_numbers(part: Any, name: str, default: Any) -> None:
    assert found.default_elsewhere(part, name, set()) == default


@pytest.mark.parametrize("name", ["width", "shape", "wide", "other"])
def test_nothing_else(part: Any, name: str) -> None:
    assert found.default_elsewhere(part, name, set()) is None


def test_only_what_the_annotation_allows(part: Any) -> None:
    assert found.default_elsewhere(part, "padding_mode", {"int"}) is None
    assert found.default_elsewhere(part, "rates", {"module"}) is None
    assert found.default_elsewhere(None, "rates", set()) is None
