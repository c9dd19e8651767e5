"""Runs what a program hands to a library that reads its command line (click, typer, fire, absl), which ends without arguments."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import sys
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed
from ..importing.made_up_arguments import value_for
from .configured_functions import decorated_functions, settings_for, value_of_class
from .open_values import fill

# methods of a library that call what they are given
_STARTS = re.compile(r"(?:Fire|run|main|cli|CLI|call|launch|start|execute|invoke|dispatch)(?:_\w+)?")
_TRAINS = re.compile(r"train|fit|run|main", re.I)
MOST = 4


@dataclass(frozen=True)
class Command:
    """Something that the command line starts; ``lacking`` are the arguments that are made up when it is run."""

    name: str
    lacking: tuple[str, ...]
    run: Callable[[], object]


def commands(names: Mapping[str, Any], source: str, file: str) -> list[Command]:
    """The commands of a program that has run with ``names``; those that train come first."""
    every = (*_of_parsers(names, file), *_of_typer(names), *_of_functions(names, source, file))
    found = {command.name: command for command in every}
    for command in _of_decorators(names, source, file):
        found.setdefault(command.name, command)
    return sorted(found.values(), key=lambda command: _TRAINS.search(command.name) is None)[:MOST]


def _of_parsers(names: Mapping[str, Any], file: str) -> Iterator[Command]:
    """Commands that the library parses arguments for: with those that are required, as words."""
    for value in list(names.values()):
        if _is_command(value):
            yield from _single_commands(value, file)


def _is_command(value: Any) -> bool:
    # asked of its class: what is absent, or a stub, has any attribute
    return callable(getattr(type(value), "make_context", None)) and hasattr(value, "params")


def _single_commands(command: Any, file: str) -> Iterator[Command]:
    """``command``, or those of a group."""
    inside = getattr(command, "commands", None)
    if isinstance(inside, dict):
        for each in inside.values():
            yield from _single_commands(each, file)
        return
    callback = inspect.unwrap(command.callback) if callable(getattr(command, "callback", None)) else None
    if getattr(getattr(callback, "__code__", None), "co_filename", "") != file:
        return
    required = [each for each in command.params if each.required]
    words = [word for each in required for word in _words_for(each)]
    run = functools.partial(command.main, args=words, standalone_mode=False)
    yield Command(str(command.name), tuple(str(each.name) for each in required), run)


def _words_for(parameter: Any) -> list[str]:
    """What the command line has for ``parameter``."""
    kind = parameter.type
    number = {"integer": int, "float": float, "integer range": int, "float range": float}.get(str(kind.name))
    value = str(
        value_for(str(parameter.name), number, getattr(kind, "choices", ()), getattr(parameter, "help", "") or "")
    )
    if getattr(kind, "exists", False) and not os.path.exists(value):
        value = tempfile.mkdtemp() if kind.dir_okay else tempfile.mkstemp()[1]
    option = next((each for each in parameter.opts if each.startswith("-")), "")
    count = parameter.nargs if isinstance(parameter.nargs, int) and parameter.nargs > 1 else 1
    return [*([option] if option else []), *[value] * count]


def _of_functions(names: Mapping[str, Any], source: str, file: str) -> Iterator[Command]:
    """Functions of ``file``, and methods of its classes, that the program gives to a library: `fire.Fire(train)`, `app.run(main)`."""
    for name in _handed_over(source):
        value = names.get(name)
        if isinstance(value, type):
            yield from _methods(value)
        elif getattr(getattr(value, "__code__", None), "co_filename", "") == file:
            yield _called(name, value)


def _handed_over(source: str) -> list[str]:
    """The names that a library's function gets in a call at the top level."""
    tree = parsed(source)
    if tree is None:
        return []
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    outside = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    calls = [node for each in outside for node in ast.walk(each) if isinstance(node, ast.Call)]
    started = [call for call in calls if _STARTS.fullmatch(_last_name(call.func))]
    values = [value for call in started for value in (*call.args, *(keyword.value for keyword in call.keywords))]
    inside = [each for value in values for each in (value.values if isinstance(value, ast.Dict) else [value])]
    return [each.id for each in inside if isinstance(each, ast.Name) and each.id in own]


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _of_typer(names: Mapping[str, Any]) -> Iterator[Command]:
    typer: Any = sys.modules.get("typer")
    for value in list(names.values()) if typer is not None else ():
        for command in value.registered_commands if isinstance(value, typer.Typer) else ():
            yield _called(str(command.name or command.callback.__name__), command.callback)


def _of_decorators(names: Mapping[str, Any], source: str, file: str) -> Iterator[Command]:
    """Functions that a library calls with settings, or elsewhere: `@library.main(config_name="train")`, `@app.task`."""
    for name, function in decorated_functions(names, source, file):
        given = settings_for(function, source, file)
        lacking = [path for settings in given.values() for path in fill(settings)]
        yield _called(name, function, given, lacking)


def _methods(cls: Any) -> Iterator[Command]:
    made = attempted(cls) if not _required(cls) else None
    for name, value in vars(cls).items() if made is not None else ():
        if inspect.isfunction(value) and not name.startswith("_"):
            yield _called(name, getattr(made, name))


def _called(
    name: str, function: Any, settings: Mapping[str, Any] | None = None, made_up: Sequence[str] = ()
) -> Command:
    """``settings`` are values of parameters that the program itself has, in which ``made_up`` were open."""
    lacking = _required(function)
    hints = attempted(functools.partial(typing.get_type_hints, function)) or {}

    def run() -> object:
        _mark_flags_as_read()
        given = {each.name: value_for(each.name, hints.get(each.name)) for each in lacking}
        own = {each.name: value_of_class(hints.get(each.name)) for each in lacking}
        given |= {name: value for name, value in {**own, **(settings or {})}.items() if value is not None}
        positional = [given.pop(each.name) for each in lacking if each.kind is each.POSITIONAL_ONLY]
        return function(*positional, **_described_defaults(function), **given)

    unknown = [each.name for each in lacking if (settings or {}).get(each.name) is None]
    return Command(name, (*unknown, *made_up), run)


def _required(function: Any) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each for each in _parameters(function) if _default(each) in (each.empty, ...) and each.kind not in kinds]


def _described_defaults(function: Any) -> dict[str, Any]:
    """The values of defaults that only describe them: `size: int = Option(8)`."""
    found = {each.name: _default(each) for each in _parameters(function) if _default(each) is not each.default}
    return {name: value for name, value in found.items() if value is not ...}


def _default(parameter: inspect.Parameter) -> Any:
    described = type(parameter.default).__name__ in ("OptionInfo", "ArgumentInfo")
    return parameter.default.default if described else parameter.default


def _parameters(function: Any) -> list[inspect.Parameter]:
    signature = attempted(functools.partial(inspect.signature, function))
    return list(signature.parameters.values()) if signature is not None else []


def _mark_flags_as_read() -> None:
    """Flags of absl have their defaults from now on."""
    flags: Any = sys.modules.get("absl.flags")
    if flags is not None:
        flags.FLAGS.mark_as_parsed()
