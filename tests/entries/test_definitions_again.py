"""Definitions whose annotations, defaults or decorators fail, made again without them: no process, no torch."""

from __future__ import annotations

import ast
import collections
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

NOT_MADE = "left as it is"


def made(text: str, names: dict[str, Any], tmp_path: Path) -> Any:
    """What remains of the failure of the first statement of ``text`` that fails."""
    definitions = agent_module("inputs.importing.definitions")
    absent = agent_module("inputs.importing.absent")
    file = tmp_path / "program.py"
    file.write_text(text)

    def lacking(owner: Any, name: str) -> Any:
        error = AttributeError(f"no attribute {name!r}")
        return absent.PartStub(error, name="library") if owner is collections else None

    for statement in ast.parse(text).body:
        problem = definitions.attempt(statement, names, str(file))
        if problem is not None:
            return definitions.made_again(statement, problem, names, str(file), lacking)
    return NOT_MADE


DEFINITIONS = {
    "a name that is not defined": "def f(x: Gone) -> Gone:\n    return x * 2\n",
    "a union with a text": "def f(x: int | 'Other'):\n    return x * 2\n",
    "what a library lacks": "def f(x: collections.Gone = 1):\n    return x * 2\n",
    "a default": "def f(x, y=missing(), *, z=missing_too):\n    return x * 2\n",
    "a default that a library lacks": "def f(x, y=collections.gone):\n    return x * 2\n",
    "a decorator": "@gone.register('x')\n@known\ndef f(x):\n    return x * 2\n",
    "the call of a decorator": "@broken\ndef f(x):\n    return x * 2\n",
    "a decorator that a library lacks": "@collections.register('x')\ndef f(x):\n    return x * 2\n",
    "all of it": "@gone\ndef f(x: Gone, y: Gone = missing(), *z: Gone):\n    return x * 2\n",
}


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_a_function_is_made_without_what_fails(kind: str, tmp_path: Path) -> None:
    def broken(_: Any) -> None:
        raise RuntimeError("no such registry")

    names: dict[str, Any] = {"collections": collections, "known": lambda f: f, "broken": broken}
    assert made(DEFINITIONS[kind], names, tmp_path) is None
    assert names["f"](3) == 6


CLASS = """\
class Net(Base):
    size: Gone = 3
    kept = collections.OrderedDict

    @gone
    def doubled(self, x: Gone, y: Gone = missing()):
        return x * 2
"""


def test_so_are_the_methods_of_a_class(tmp_path: Path) -> None:
    names: dict[str, Any] = {"collections": collections, "Base": object}
    assert made(CLASS, names, tmp_path) is None
    assert (names["Net"].size, names["Net"]().doubled(3)) == (3, 6)
    assert names["Net"].doubled.__annotations__ == {"x": "Gone", "y": "Gone"}


def test_a_default_that_failed_raises_why_when_it_is_needed(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    assert made("def f(x, y=missing):\n    return x + y\n", names, tmp_path) is None
    with pytest.raises(agent_module("inputs.importing.absent").NeedsAbsent, match="missing"):
        names["f"](1)


OTHERS = {
    "a base class": "class Net(Gone):\n    pass\n",
    "a value of a class": "class Net:\n    size = gone()\n",
    "what runs in a function": "def f():\n    return collections.gone\nx = f()\n",
    "what no library lacks": "x = other.gone\n",
    "a loop": "for x in (1, 2):\n    y = collections.gone\n",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_else_fails_still_does(kind: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {"collections": collections, "other": SimpleNamespace()}
    assert isinstance(made(OTHERS[kind], names, tmp_path), Exception)


def test_a_value_is_computed_around_what_a_library_lacks(tmp_path: Path) -> None:
    names: dict[str, Any] = {"collections": collections}
    assert made("kinds = {'a': collections.Gone, 'b': 3}\n", names, tmp_path) is None
    assert names["kinds"]["b"] == 3
    # it may be there by another name, so what compares with it has no answer
    for asks in (lambda part: isinstance(3, part), lambda part: part == 3, bool, int):
        with pytest.raises(AttributeError, match="Gone"):
            asks(names["kinds"]["a"])


def test_a_decorator_of_a_library_that_is_not_there_gets_named_arguments(tmp_path: Path) -> None:
    absent = agent_module("inputs.importing.absent")
    library = absent.StubModule("library", ModuleNotFoundError("No module named 'library'"))
    file = tmp_path / "decorated.py"
    file.write_text(
        "from functools import partial\n\n\n@partial(library.jit, static=1)\ndef f(x):\n    return x * 2\n\n\n"
        "made = library.jit(f, static=1)\n"
    )
    names: dict[str, Any] = {"library": library}
    exec(compile(file.read_text(), str(file), "exec"), names)
    assert names["f"](3) == 6
    assert isinstance(names["made"], absent.Stub)
