"""What a script passes to a model that it has not come to make: locals, defaults of options, classes."""

from __future__ import annotations

import argparse
import ast
import sys
import types
from typing import Any

import pytest

from compile_lens.agent.inputs.scripts.known_arguments import given_in, text_of

MODULE = types.ModuleType("known_nets")
NETS = """\
class Block:
    pass

class Net:
    def __init__(self, block, layers, width=8, rate=0.1, name=""):
        pass
"""
SCRIPT = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("-w", "--layer-width", type=int, default=24)
parser.add_argument("--rate", default=0.5, dest="drop")
parser.add_argument("--twice", default=1)
parser.add_argument("--twice", default=2)

def main(args, again):
    layers = [2, 2]
    twice = 3
    twice = 4
    again = 5
    net = Net({passed})
"""


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, MODULE.__name__, MODULE)
    vars(MODULE)["__name__"] = MODULE.__name__
    exec(NETS, vars(MODULE))


def _given(passed: str, names: dict[str, Any] | None = None) -> dict[str, str]:
    tree = ast.parse(SCRIPT.format(passed=passed))
    main = tree.body[-1]
    call = next(
        node
        for node in ast.walk(main)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Net"
    )
    return given_in(MODULE.Net, call, {"Block": MODULE.Block, **(names or {})}, tree, main)


@pytest.mark.parametrize(
    ("passed", "given"),
    [
        ("Block, layers", {"block": "Block", "layers": "[2, 2]"}),
        ("Block, [1], width=args.layer_width", {"block": "Block", "layers": "[1]", "width": "24"}),
        ("Block, [1], width=self.args.layer_width", {"block": "Block", "layers": "[1]", "width": "24"}),
        ("None, [1], rate=args.drop", {"layers": "[1]", "rate": "0.5"}),
        # not known: which of two it is, what is passed to the function, an object of another kind, several at once
        ("Block, [1], width=twice, rate=again", {"block": "Block", "layers": "[1]"}),
        ("Block, [1], width=args.twice", {"block": "Block", "layers": "[1]"}),
        ("Block, [1], width=data.layer_width", {"block": "Block", "layers": "[1]"}),
        ("*sizes, width=3", {"width": "3"}),
    ],
)
def test_what_is_written_or_bound_once(passed: str, given: dict[str, str]) -> None:
    assert _given(passed) == given


def test_options_that_are_parsed_have_their_values() -> None:
    parsed = argparse.Namespace(layer_width=32)
    assert _given("Block, [1], width=args.layer_width, rate=args.drop", {"args": parsed}) == {
        "block": "Block",
        "layers": "[1]",
        "width": "32",
    }


def test_a_class_of_another_module_has_no_text() -> None:
    assert text_of(MODULE.Block, MODULE.Net) == "Block"
    assert text_of(argparse.Namespace, MODULE.Net) is None
