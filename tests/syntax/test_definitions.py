"""Functions, classes and their parameters, counted as the interpreter counts."""

from __future__ import annotations

import inspect
import sys
from types import CodeType

import pytest

from compile_lens.syntax.definitions import Parameter, definition_at, definitions, parameter_range
from compile_lens.syntax.tree import Range, parse

SOURCE = '''\
import torch


@torch.compile(
    dynamic=True,
)
# why
@staticmethod
def first(x: torch.Tensor, /, y=1, *args: int, key: bool = False, **rest):
    """Text."""
    helper = lambda a, *b, c=2: a

    async def inner(z):
        return z

    return inner


class Net(torch.nn.Module):
    size = 3

    def forward(self, x):
        return x

    class Config:
        pass
'''


def test_parameters() -> None:
    definition = definition_at(parse(SOURCE), 10)
    assert definition is not None
    assert definition.parameters == (
        Parameter("x", Range(9, 11, 9, 12), "torch.Tensor", ""),
        Parameter("y", Range(9, 31, 9, 32), "", "1"),
        Parameter("args", Range(9, 37, 9, 41), "int", ""),
        Parameter("key", Range(9, 48, 9, 51), "bool", "False"),
        Parameter("rest", Range(9, 69, 9, 73), "", ""),
    )
    assert definition.decorators == ("torch.compile(\n    dynamic=True,\n)", "staticmethod")
    assert (definition.first_line, definition.def_line, definition.last_line) == (4, 9, 16)
    assert definition.name_place == Range(9, 5, 9, 10)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (1, None),
        (3, None),
        (4, "first"),
        (7, "first"),
        (9, "first"),
        (11, "first"),
        (12, "first"),
        (13, "first.<locals>.inner"),
        (14, "first.<locals>.inner"),
        (16, "first"),
        (17, None),
        (19, "Net"),
        (20, "Net"),
        (22, "Net.forward"),
        (23, "Net.forward"),
        (24, "Net"),
        (26, "Net.Config"),
        (99, None),
    ],
)
def test_innermost_definition(line: int, name: str | None) -> None:
    definition = definition_at(parse(SOURCE), line)
    assert (definition.qualified_name if definition is not None else None) == name


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified name")
def test_first_lines_and_qualified_names_are_the_interpreters() -> None:
    def walk(code: CodeType) -> set[tuple[str, int]]:
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        names = {(constant.co_qualname, constant.co_firstlineno) for constant in inner}
        return names.union(*(walk(constant) for constant in inner))

    ours = {(definition.qualified_name, definition.first_line) for definition in definitions(parse(SOURCE))}
    assert walk(compile(inspect.cleandoc(SOURCE), "f", "exec")) == ours


def test_definitions_of_a_text_that_is_looked_through_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a stretch cuts through, each definition is found once."""
    tree = parse(SOURCE)
    whole = definitions(tree)
    for stretch in (1, 7, 64):
        monkeypatch.setattr("compile_lens.syntax.tree._STRETCH", stretch)
        assert definitions(parse(SOURCE)) == whole


def test_parameter_range() -> None:
    tree = parse(SOURCE)
    assert parameter_range(tree, 9, "key") == parameter_range(tree, 4, "key") == Range(9, 48, 9, 51)
    assert parameter_range(tree, 11, "b") == Range(11, 25, 11, 26)
    assert parameter_range(tree, 11, "a") == Range(11, 21, 11, 22)
    assert parameter_range(tree, 9, "nothing") is None
    assert parameter_range(tree, 10, "x") is None
    assert parameter_range(parse("def f(é, 👩, x): pass"), 1, "x") == Range(1, 13, 1, 14)
