"""Finds configurations that a package has ready: `CONFIGS["tiny"]`, `get_small_config()`, `Config.tiny()`.

They are what the package's own users pass. Where a configuration is made of others, or has methods of its own, nothing else is known
to fit.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....runtime.foreign_code import attempted
from ...calling.time_limit import SlowTrial, TrialTooLong, at_most
from ...importing.absent import Stub
from .factories import FROM_FILES
from .package_files import LEFT_OUT, SMALL, package_files, statements_mentioning
from .sibling_configurations import sibling_configurations

MOST = 3
MOST_MODULES = 40
MOST_ITEMS = 40
# for a function that makes one
CALL_S = 2.0
_SMALLEST = re.compile(r"(?:^|_)(?:debug|tiny|toy|dummy|mini|nano)")
_MAKERS = re.compile(r"(?:get_|make_|default_|build_|create_)?\w*(?:config|cfg|hparams|args|options|hps)\w*", re.I)


@dataclass(frozen=True)
class Ready:
    """A configuration, and the expression for it."""

    text: str
    value: Any


@functools.lru_cache(maxsize=32)
def configurations_of(cls: type, module: ModuleType) -> list[str]:
    """Expressions for objects of ``cls`` that the package of ``module`` has: those that are called small come first."""
    named = cls.__qualname__.rpartition(".")[2]
    found = [
        *_made_by_class(cls),
        *(
            ready
            for each in _modules(module, cls)
            for ready in _in_module(each, lambda value: isinstance(value, cls), lambda made: _mentions(made, named))
        ),
    ]
    return _smallest_first(found)


@functools.lru_cache(maxsize=32)
def configurations_with(fields: tuple[str, ...], module: ModuleType) -> list[str]:
    """Expressions for objects that have all of ``fields``, from the files of configurations beside ``module`` and from itself."""
    if not fields:
        return []

    def fits(value: Any) -> bool:
        return all(_has(value, name) for name in fields)

    found = list(_in_module(module, fits, lambda made: _MAKERS.fullmatch(made.__name__) is not None))
    for each in sibling_configurations(module):
        found += _in_module(each, fits, lambda made: not made.__name__.startswith("_"))
    return _smallest_first(found)


def _has(value: Any, name: str) -> bool:
    """Whether ``value`` has a key or an attribute ``name``."""
    return (isinstance(value, dict) and name in value) or attempted(lambda: hasattr(value, name)) is True


def _smallest_first(found: list[Ready]) -> list[str]:
    unique = {ready.text: ready for ready in found}.values()
    return [ready.text for ready in sorted(unique, key=lambda ready: _is_large(ready.text))][:MOST]


def _is_large(text: str) -> bool:
    """Whether no word of the names that ``text`` ends with says that it is small."""
    words = re.findall(r"\w+", text.partition("(")[0].lower())[-2:]
    return not any(SMALL.search(word) or _SMALLEST.search(word) for word in words)


def _modules(module: ModuleType, cls: type) -> Iterator[ModuleType]:
    """The modules of the package that construct ``cls``: that of the file and those around it first; others are imported."""
    package = module.__name__.partition(".")[0]
    called = r"\b" + r"\.".join(map(re.escape, cls.__qualname__.split(".")[-2:])) + r"\("
    seen: set[str] = set()
    for each in _nearest(module, package):
        file = str(getattr(each, "__file__", None) or "")
        if file in seen or LEFT_OUT.search(file):
            continue
        seen.add(file)
        if file.endswith(".py") and statements_mentioning(file, called):
            yield each
    for path, dotted in package_files(os.path.abspath(str(module.__file__)), module.__name__):
        if path not in seen and not LEFT_OUT.search(path) and statements_mentioning(path, called):
            seen.add(path)
            other = attempted(functools.partial(importlib.import_module, dotted))
            if other is not None:
                yield other


def _nearest(module: ModuleType, package: str) -> list[ModuleType]:
    """Loaded modules of ``package``: ``module`` itself, then those of the packages that it is in, the inner ones first."""
    above = module.__name__.rpartition(".")[0]

    def distance(name: str) -> int:
        return sum(one != other for one, other in zip(above.split("."), name.split("."), strict=False))

    loaded = [(n, each) for n, each in list(sys.modules.items()) if n.partition(".")[0] == package and each is not None]
    near = sorted(loaded, key=lambda pair: (pair[1] is not module, distance(pair[0]), len(pair[0])))
    return [each for _, each in near[:MOST_MODULES]]


def _in_module(
    module: ModuleType, fits: Callable[[Any], bool], may_make: Callable[[FunctionType], bool]
) -> Iterator[Ready]:
    """What fits among the values of a module, and what its functions that need nothing make."""
    for name, value in list(vars(module).items()):
        # a stub has every attribute
        if name.startswith("__") or isinstance(value, ModuleType | Stub):
            continue
        for text, each in _values(name, value):
            if type(each) is FunctionType:
                arguments = _arguments(each) if each.__module__ == module.__name__ and may_make(each) else None
                made = _made(each, arguments) if arguments is not None else None
                if made is not None and fits(made):
                    yield Ready(f"{module.__name__}.{text}({_text_of(arguments or {})})", made)
            elif not isinstance(each, type) and fits(each):
                yield Ready(f"{module.__name__}.{text}", each)


def _values(text: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """A value, and what is inside of a dictionary or a list, with their expressions."""
    yield text, value
    items: list[tuple[Any, Any]] = []
    if type(value) is dict and depth < 2:
        items = [(key, each) for key, each in value.items() if isinstance(key, str | int)]
    elif type(value) in (list, tuple) and depth < 2:
        items = list(enumerate(value))
    for key, each in items[:MOST_ITEMS]:
        if type(each) in (dict, list, tuple, FunctionType) or hasattr(each, "__dict__") or hasattr(each, "__slots__"):
            yield from _values(f"{text}[{key!r}]", each, depth + 1)


def _mentions(function: FunctionType, name: str) -> bool:
    """Whether a function names a class, or says that it returns one."""
    code = function.__code__
    return name in code.co_names or name in str(function.__annotations__.get("return", ""))


def _made_by_class(cls: type) -> Iterator[Ready]:
    """What class methods and static methods of ``cls`` make that need nothing."""
    for name, value in vars(cls).items():
        if isinstance(value, classmethod | staticmethod) and not name.startswith("_") and not FROM_FILES.search(name):
            function = getattr(cls, name)
            arguments = _arguments(function)
            made = _made(function, arguments) if arguments is not None else None
            if isinstance(made, cls):
                yield Ready(f"{cls.__module__}.{cls.__qualname__}.{name}({_text_of(arguments or {})})", made)


def _made(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What a function of the package returns; None where it raises, or takes long."""
    try:
        with unrecorded(), at_most(CALL_S, SlowTrial):
            return function(**arguments)
    except TrialTooLong as late:
        if isinstance(late, SlowTrial):
            return None
        raise
    except (Exception, SystemExit):  # code of the user's may raise anything, and then this is no configuration
        return None


def _arguments(function: Any) -> dict[str, Any] | None:
    """Arguments for the parameters that ``function`` requires: what another function of its file has for one of that name; None where
    nothing is known."""
    if FROM_FILES.search(function.__name__):
        return None
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        default = _default_elsewhere(name, getattr(function, "__globals__", {}))
        if default is None:
            return None
        found[name] = default
    return found


def _default_elsewhere(name: str, names: dict[str, Any]) -> Any:
    """The default, a plain value, of a parameter ``name`` of another function; None without one."""
    for value in list(names.values()):
        parameters = inspect.signature(value).parameters if type(value) is FunctionType else {}
        if name in parameters and isinstance(parameters[name].default, int | float | str):
            return parameters[name].default
    return None


def _text_of(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
