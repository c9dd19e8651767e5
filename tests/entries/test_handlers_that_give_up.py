"""A handler that ends the program, or says that it fails where nothing else comes, provides for no error: the script goes on past it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run
from tests.entries.sources import NET_OF_WIDTH

from compile_lens.agent.runtime.handlers import gives_up, only_says
from compile_lens.analysis.finding import Severity
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

GIVING_UP = ("raise", "raise RuntimeError('x') from e", "print(e)\n    sys.exit(1)", "exit()", "os._exit(2)")
SAYING = ("print(e)", "logger.error('failed')\n    traceback.print_exc()", "click.echo(e)")
PROVIDING = ("pass", "net = None", "print(e)\n    net = None", "return None", "found = exit(1)", "fall_back()")


def _handler(body: str) -> ast.ExceptHandler:
    (node,) = ast.parse(f"try:\n    pass\nexcept Exception as e:\n    {body}\n").body
    assert isinstance(node, ast.Try)
    return node.handlers[0]


@pytest.mark.parametrize("body", [*GIVING_UP, *SAYING, *PROVIDING])
def test_what_a_handler_does_about_an_error(body: str) -> None:
    assert (gives_up(_handler(body)), only_says(_handler(body))) == (body in GIVING_UP, body in SAYING)


def _reached(text: str) -> list[str]:
    """What a program says that it reaches, past what fails."""
    guard_module, continuing = agent_module("inputs.scripts.guard"), agent_module("inputs.scripts.continuing")
    guard = guard_module.Guard(60.0, lambda _: None, lambda *_: None)
    reached: list[str] = []
    names: dict[str, Any] = {continuing.GUARD: guard, "reach": reached.append, "print": lambda *_: None}
    exec(continuing.rewritten(text, "script.py"), names)
    return reached


TRIED = "try:\n    1 / 0\n    reach('model')\nexcept {kind}:\n    {handler}\n"


@pytest.mark.parametrize("handler", ["raise SystemExit(1)", "exit(1)", "print('it failed')"])
def test_a_program_that_would_end_goes_on_in_its_try(handler: str) -> None:
    assert _reached(TRIED.format(kind="Exception", handler=handler)) == ["model"]


def test_what_a_function_raises_in_place_of_an_error_is_handled_by_its_caller() -> None:
    inner = "def load():\n    try:\n        return {}['x']\n    except KeyError:\n        raise ValueError('x')\n"
    assert _reached(f"{inner}try:\n    load()\nexcept ValueError:\n    reach('caller')\n") == ["caller"]


@pytest.mark.parametrize("after", ["reach('after')", "for each in (): pass"])
def test_a_handler_that_says_so_is_the_programs_own_where_more_comes(after: str) -> None:
    program = f"def load():\n    found = None\n    try:\n        found = 1 / 0\n    except Exception:\n        print('no')\n    {after}\n"
    assert "model" not in _reached(TRIED.format(kind="Exception", handler="print('no')") + "reach('after')\n")
    assert _reached(f"{program}    return found\nif load() is None:\n    reach('none')\n")[-1:] == ["none"]


SCRIPT = (
    """\
import sys
import torch

try:
    import no_such_tracker
except ImportError:
    print("Install it first")
    sys.exit(1)


"""
    + NET_OF_WIDTH
    + """\


def main():
    try:
        data = torch.load("missing/data.pt", weights_only=False)
        net = Net(24)
        for x in data:
            net(x).sum().backward()
    except FileNotFoundError as error:
        print(f"Error: {error}")
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        print(error)
"""
)


def test_the_model_of_a_script_whose_handlers_give_up(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"train.py": SCRIPT})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [call.making for call in outcome.calls] == ["Net from line 23"]
    assert [(f.code, f.place.line) for f in outcome.findings if f.severity is not Severity.HINT] == [
        ("missing-data", 22)
    ]
    assert any("`no_such_tracker` is not installed and was replaced with a stub." in note for note in outcome.notes)
