"""A call that the file itself writes without what it requires raises for any inputs: none are asked for."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

from compile_lens.agent.runtime.entry_protocol import NOT_PASSED

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

no_call = agent_module("inputs.synthesis.no_call")

MODULE = """\
def made(width, *, layers):
    return width * layers


class Part:
    def __init__(self, width, layers): ...


def wrong(width):
    return made(
        width=width,
    )


def wrong_of_class(width):
    return Part(width)


def unpacked(**options):
    return made(2, **options)


def listed(*given):
    return Part(*given)


def handed_over(made):
    return made()


def in_branch(kind):
    if kind == "wide":
        return Part(2)


def in_branch_of_caller(kind):
    if kind == "wide":
        return wrong(2)


def of_object(part):
    return part.build()


class Needs:
    def build(self, width): ...
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder: Path = tmp_path_factory.mktemp("passed")
    return imported(folder / "arguments_never_passed.py", MODULE)


def why(function: object, *given: object) -> str:
    with pytest.raises(TypeError) as error:
        eval("function(*given)", {"function": function, "given": given})
    return str(no_call.no_call_returns(error.value))


def test_what_a_call_of_the_file_leaves_out(module: ModuleType) -> None:
    assert why(module.wrong, 2) == NOT_PASSED
    assert why(module.wrong_of_class, 2) == NOT_PASSED


def test_what_an_argument_decides_may_be_passed(module: ModuleType) -> None:
    assert not why(module.unpacked)
    assert not why(module.listed, 2)
    assert not why(module.handed_over, module.made)
    assert not why(module.in_branch, "wide")
    assert not why(module.in_branch_of_caller, "wide")
    assert not why(module.of_object, module.Needs())
    assert not why(lambda: module.made(2))
