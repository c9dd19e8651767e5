"""What an expression that a program has not run may mean: tables, registries, modules, and names that stand for them."""

from __future__ import annotations

import ast
import types
from typing import Any

import pytest
from tests.entries.agent_package import agent_module


class Small: ...


class Large: ...


class Registry:
    def __init__(self) -> None:
        self.count, self.known = 2, {"small": Small, "large": Large}

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("it was asked")


ZOO = types.ModuleType(__name__)
ZOO.__dict__.update(Small=Small, Large=Large, Other=type("Other", (), {"__module__": "elsewhere"}), helper=len)
NAMES = {"Small": Small, "Large": Large, "TABLE": {"small": Small, "large": Large}, "REGISTRY": Registry(), "zoo": ZOO}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Small()", [Small]),
        ("zoo.Large()", [Large]),
        ("TABLE['large']()", [Large]),
        ("TABLE[options.name]()", [Small, Large]),
        ("TABLE.get('large')()", [Large]),
        ("{'a': Large, 'b': Small}[name]()", [Large, Small]),
        ("REGISTRY.get('large')(3)", [Large]),
        ("REGISTRY.build(options)", [Small, Large]),
        ("getattr(zoo, 'Large')()", [Large]),
        ("getattr(zoo, options.name)()", [Small, Large]),
        ("(Large if options.deep else Small)()", [Large, Small]),
        ("cls = TABLE['large']\ncls()", [Large]),
        ("table = {'b': Small}\ncls = table[name]\ncls()", [Small]),
        ("cls = other\nother = cls\ncls()", []),
        ("options.get('x')()", []),
        ("unknown()", []),
    ],
)
def test_what_is_called(text: str, wanted: list[type]) -> None:
    module = agent_module("inputs.scripts.meant_values")
    tree = ast.parse(text)
    last: Any = tree.body[-1]
    assert module.meant(last.value.func, NAMES, module.assigned_in(tree)) == wanted


def test_a_registry_is_passed_a_name() -> None:
    module = agent_module("inputs.scripts.meant_values")
    functions = [ast.parse(text, mode="eval").body for text in ("REGISTRY.build", "zoo.Small", "Small", "zoo.helper")]
    assert [module.is_registry(each, NAMES) for each in functions] == [True, False, False, False]
