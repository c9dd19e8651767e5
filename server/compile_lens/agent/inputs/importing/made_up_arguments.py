"""Makes up the command-line arguments that a program requires, where nobody passed any."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...runtime.foreign_code import attempted
from .as_written import runs_as_written
from .configuration_files import configuration_file, configuration_instead

_FOLDERS = ("dir", "folder", "path", "root", "out", "output", "data", "save", "log")


@contextlib.contextmanager
def made_up(tell: Callable[[list[str]], object]) -> Iterator[None]:
    """Required arguments of argparse get a value while the body runs, unless they were passed or it runs as it is written, and so do
    options for a configuration file that the program does not have; ``tell`` gets their names."""
    if runs_as_written():
        yield
        return
    original = argparse.ArgumentParser.parse_known_args

    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        required, choices = _made_optional(self), _required_groups(self)
        command = _first_command(self) if not _given(args) else None
        if command is not None:
            tell([command])
        parsed, rest = original(self, [command] if command is not None else args, namespace)
        lacking = [action for action in required if getattr(parsed, action.dest, None) is None]
        lacking += [group[0] for group in choices if not any(_is_passed(each, parsed) for each in group)]
        for action in lacking:
            setattr(parsed, action.dest, _value(action))
        lacking += [
            action for action in self._actions if action not in required and _gets_configuration(action, parsed)
        ]
        if lacking:
            tell([_shown(action) for action in lacking])
        return parsed, rest

    argparse.ArgumentParser.parse_known_args = parse_known_args  # type: ignore[method-assign]
    try:
        yield
    finally:
        argparse.ArgumentParser.parse_known_args = original  # type: ignore[method-assign]


def _gets_configuration(action: argparse.Action, parsed: Any) -> bool:
    """Whether ``parsed`` has a file of the repository now for an option whose default is none, or is not there."""
    value = getattr(parsed, action.dest, None)
    is_default = value is None or value == action.default
    file = (
        configuration_instead(action.dest, action.help or "", value, _program())
        if is_default and action.option_strings
        else ""
    )
    if file:
        convert = action.type
        setattr(parsed, action.dest, attempted(lambda: convert(file)) if callable(convert) else file)
    return bool(file)


def _program() -> str:
    return str(getattr(sys.modules.get("__main__"), "__file__", None) or "")


def _given(args: Any) -> bool:
    return bool(sys.argv[1:] if args is None else args)


def _first_command(parser: argparse.ArgumentParser) -> str | None:
    """The command of a parser that has some: one that trains, or the first; None where it has none."""
    commands = [name for a in parser._actions if isinstance(a, argparse._SubParsersAction) for name in a.choices]
    return next((name for name in commands if "train" in name), next(iter(commands), None))


def _made_optional(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    required = [action for action in parser._actions if action.required and action.dest != argparse.SUPPRESS]
    for action in required:
        action.required = False
        if not action.option_strings and action.nargs in (None, argparse.ONE_OR_MORE):
            action.nargs = argparse.OPTIONAL if action.nargs is None else argparse.ZERO_OR_MORE
    return required


def _required_groups(parser: argparse.ArgumentParser) -> list[list[argparse.Action]]:
    """The options of which a parser demands one; it no longer does."""
    groups = [group for group in parser._mutually_exclusive_groups if group.required and group._group_actions]
    for group in groups:
        group.required = False
    return [group._group_actions for group in groups]


def _is_passed(action: argparse.Action, parsed: Any) -> bool:
    value = getattr(parsed, action.dest, None)
    return value is not None and value is not action.default


def _value(action: argparse.Action) -> Any:
    """The first choice, a number, a configuration file of the repository, a folder that is empty, or a word; what a flag stands for."""
    if action.nargs == 0:
        return action.const
    one = _one(action)
    return [one] if action.nargs in (argparse.ONE_OR_MORE, argparse.ZERO_OR_MORE) else one


def _one(action: argparse.Action) -> Any:
    value = value_for(action.dest, action.type, action.choices or (), action.help or "")
    convert = action.type
    return attempted(lambda: convert(value)) if callable(convert) and isinstance(value, str) else value


def value_for(name: str, kind: Any = None, choices: Iterable[Any] = (), words: str = "") -> Any:
    """A value for the argument ``name``, of which ``words`` is the help: a text, where ``kind`` is not one of numbers."""
    if choices:
        return next(iter(choices))
    if kind in (int, float):
        return kind(1)
    file = configuration_file(name, words, _program())
    is_folder = any(word in name.lower() for word in _FOLDERS)
    return file or (tempfile.mkdtemp() if is_folder else name)


def _shown(action: argparse.Action) -> str:
    return action.option_strings[-1] if action.option_strings else action.dest
