"""Finds functions of a file that construct a class with a configuration of their own: ``def resnet18(**kwargs)``."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

from ..source.signatures import read_parameters
from ..terms.parameter_info import ParameterInfo

MOST = 4
# from a function to one that names the class
MOST_STEPS = 3


# class methods that need a file or a download
FROM_FILES = re.compile(r"pretrained|checkpoint|ckpt|file|path|load|disk|hub|url|weights|json|yaml")
# weights that are downloaded
_PRETRAINED = re.compile(r"(?:.*_)?(?:pretrained|weights|checkpoint)(?:_.*)?")


def factories(module: ModuleType, cls: type) -> Iterator[str]:
    """Calls of public functions of ``module`` that need no arguments and name ``cls``, themselves or by others: without weights."""
    for name, function in itertools.islice(_making(module, cls, MOST_STEPS, needs_nothing=True), MOST):
        yield _without_weights(name, function)


def call_without_arguments(name: str, function: FunctionType) -> str | None:
    """The call of a function that needs no arguments, without weights; None of another."""
    return _without_weights(name, function) if _needs_nothing(function) else None


def _without_weights(name: str, function: FunctionType) -> str:
    return f"{name}({', '.join(f'{each}=None' for each in _weights(function))})"


def factories_with_arguments(module: ModuleType, cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Public functions of ``module`` that need arguments and call ``cls`` themselves, with their names. Not those that read weights."""
    for name, function in itertools.islice(_making(module, cls, 0, needs_nothing=False), MOST):
        if not FROM_FILES.search(name) and _calls_itself(function, cls.__name__):
            yield name, function


def factory_parameters(path: str, function: FunctionType) -> list[ParameterInfo]:
    """The parameters of ``function``, which is written ``path``: `make`, or `Net.from_name`, whose first one is the class."""
    return read_parameters(function, skip_first="." in path)


def _making(module: ModuleType, cls: type, steps: int, needs_nothing: bool) -> Iterator[tuple[str, FunctionType]]:
    """The public functions of ``module`` that name ``cls``, or one that does, and so on for so many ``steps``."""
    own = {
        name: value
        for name, value in vars(module).items()
        if type(value) is FunctionType and value.__module__ == module.__name__
    }
    used = {name: _names(function.__code__) for name, function in own.items()}
    making = {name for name, names in used.items() if cls.__name__ in names}
    for _ in range(steps):
        making |= {name for name, names in used.items() if names & making}
    for name, function in own.items():
        if name in making and not name.startswith("_") and _needs_nothing(function) is needs_nothing:
            yield name, function


def class_factories(cls: type) -> Iterator[str]:
    """The names of class methods that construct ``cls`` with arguments that its users know: ``from_name``. Not those that read weights."""
    for owner in cls.__mro__:
        for name, value in vars(owner).items():
            function = getattr(value, "__func__", None) if isinstance(value, classmethod) else None
            if type(function) is not FunctionType or name.startswith("_") or FROM_FILES.search(name):
                continue
            first = next(iter(inspect.signature(function).parameters), "")
            if owner.__module__.partition(".")[0] == cls.__module__.partition(".")[0] and _calls_itself(
                function, first
            ):
                yield name


def _calls_itself(function: FunctionType, first: str) -> bool:
    """Whether a class method calls its class, which is ``first``."""
    try:
        return re.search(rf"\b{first}\(", inspect.getsource(function)) is not None
    except (OSError, TypeError):
        return False


def _weights(function: FunctionType) -> Iterator[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        if _PRETRAINED.fullmatch(name) and parameter.default not in (parameter.empty, None, False):
            yield name


def _names(code: CodeType) -> set[str]:
    """The global names that a function uses, also in functions inside it."""
    inside = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inside)


def _needs_nothing(function: FunctionType) -> bool:
    return all(
        parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in inspect.signature(function).parameters.values()
    )
