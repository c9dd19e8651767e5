"""Passes an object of a class of the user's package where a program needs more than a number: `Embeddings` for ``embeddings``."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ....runtime.foreign_code import attempted
from ..errors.failing_lines import failing_line, failing_lines, names_in_failing_lines
from ..source.constructor_parameters import constructor_parameters
from ..terms.arguments import INSIDE, Argument, Expression
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from .concrete_classes import is_abstract

MOST_CLASSES = 3
_LACKS = re.compile(
    r"'(?:int|float|str|function|Identity|Sequential|types\.SimpleNamespace|Tensor)' object has no attribute '(\w+)'"
    r"|type object 'Identity' has no attribute '(\w+)'"
)
_NO_METHOD = re.compile(r"'Tensor' object has no attribute '(\w+)'")
# parameters that take a model of any class
_OF_ANY_MODEL = re.compile(
    r"(?:.*_)?(?:net|network|model|module|backbone|encoder|decoder|fn|base|inner|transformer|generator)"
)
_NOT_CALLABLE = re.compile(r"'(?:int|float|str)' object is not callable|Identity\.forward\(\) (?:takes|got|missing)")


def with_own_class(
    candidate: Candidate,
    error: Exception,
    module: ModuleType,
    make: Callable[[type, Unknowns], Argument],
    of: type | None = None,
) -> Iterator[Candidate]:
    """Candidates in which a number, a text or a placeholder is an object of a class that is called like the parameter, or that has
    what is read of a `model`; never of the class ``of`` itself, whose parameter it is."""
    match = _LACKS.search(str(error))
    if match is None and _NOT_CALLABLE.search(str(error)) is None:
        return
    attribute = next((name for name in match.groups() if name), "") if match is not None else ""
    in_line = names_in_failing_lines(error)
    paths = [path for path, argument in candidate.arguments.plain() if not _is_literal(argument)]
    for path in sorted(paths, key=lambda path: _place(path, in_line)):
        name = path.rpartition(INSIDE)[2]
        found = _called_like(name, attribute, module)
        if attribute and _OF_ANY_MODEL.fullmatch(name):
            found += [cls for cls in _models_with(attribute, module) if cls not in found and cls is not of]
        elif match is None:
            found += [cls for cls in _models_for(name, error, module) if cls not in found and cls is not of]
        for cls in found[:MOST_CLASSES]:
            unknowns = copy.deepcopy(candidate.unknowns)
            yield Candidate(candidate.arguments.with_argument(path, make(cls, unknowns)), unknowns)


def with_own_method(
    candidate: Candidate, error: Exception, module: ModuleType, make: Callable[[type, Unknowns], Argument]
) -> Iterator[Candidate]:
    """Candidates in which a tensor is an object of a class of the package that has the method which was called: `physics.adjoint(y)`."""
    match = _NO_METHOD.search(str(error))
    called = re.search(rf"\b(\w+)\.{match[1]}\(", failing_line(error)) if match is not None else None
    if match is None or called is None:
        return
    names = {path.rpartition(INSIDE)[2]: path for path, _ in candidate.arguments.tensors()}
    for name in [called[1]] if called[1] in names else names:
        path, wanted = names[name], _plain(name)
        found = sorted(_with_method(match[1], module), key=lambda cls: not _plain(cls.__name__).endswith(wanted))
        for cls in found[:MOST_CLASSES]:
            unknowns = copy.deepcopy(candidate.unknowns)
            yield Candidate(candidate.arguments.with_argument(path, make(cls, unknowns)), unknowns)


def _models_with(attribute: str, module: ModuleType) -> list[type]:
    """The modules of the package that set ``attribute`` themselves: those that need the least come first."""
    found = [
        cls
        for cls in classes_of_package(module)
        if hasattr(cls, "forward") and _sets(cls, attribute) and not is_abstract(cls)
    ]
    return sorted(found, key=_needed)


def _models_for(name: str, error: BaseException, module: ModuleType) -> list[type]:
    """The modules of the file that take what the model is called with where it failed: `self.model(x, t)`. One argument says nothing."""
    trees = (attempted(functools.partial(ast.parse, line.strip())) for line in failing_lines(error))
    calls = [node for tree in trees if tree is not None for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = [call for call in calls if ast.unparse(call.func).rpartition(".")[2].lstrip("_") == name]
    given = [call for call in called if len(call.args) + len(call.keywords) > 1]
    if not given:
        return []
    found = [
        cls
        for cls in vars(module).values()
        if isinstance(cls, type) and cls.__module__ == module.__name__ and hasattr(cls, "forward")
        if not is_abstract(cls) and all(_takes(cls, call) for call in given)
    ]
    return sorted(found, key=lambda cls: (name.replace("_", "") not in cls.__name__.lower(), _needed(cls)))


def _takes(cls: Any, call: ast.Call) -> bool:
    """Whether ``forward`` of ``cls`` takes the arguments of ``call``."""
    signature = attempted(lambda: inspect.signature(cls.forward))
    if signature is None or any(each.kind is each.VAR_POSITIONAL for each in signature.parameters.values()):
        return False  # a wrapper, which takes anything
    named = {keyword.arg: 0 for keyword in call.keywords if keyword.arg is not None}
    return attempted(lambda: signature.bind(None, *call.args, **named)) is not None


def _with_method(name: str, module: ModuleType) -> list[type]:
    """The classes of the package that have the method ``name``: those that need the least come first."""
    found = [
        cls
        for cls in classes_of_package(module)
        if inspect.isfunction(getattr(cls, name, None)) and not is_abstract(cls)
    ]
    return sorted(found, key=_needed)


def _needed(cls: type) -> int:
    """How many arguments the constructor of ``cls`` needs; parts of its own that it takes count more."""
    infos = constructor_parameters(cls)
    return sum(10 if _OF_ANY_MODEL.fullmatch(info.name) else 1 for info in infos if info.required)


def _sets(cls: type, attribute: str) -> bool:
    """Whether the constructor of ``cls``, or that of a base, names ``attribute``."""
    constructors = (vars(base).get("__init__") for base in cls.__mro__)
    return any(attribute in getattr(getattr(each, "__code__", None), "co_names", ()) for each in constructors)


def _is_literal(argument: Argument) -> bool:
    return isinstance(argument, Expression) and argument.text in ("True", "False", "None")


def _place(path: str, in_line: list[str]) -> int:
    name = path.rpartition(INSIDE)[2]
    return in_line.index(name) if name in in_line else len(in_line)


def _called_like(parameter: str, attribute: str, module: ModuleType) -> list[type]:
    """Classes of the package of ``module`` whose names agree with ``parameter``, those that have ``attribute`` first."""
    wanted = _plain(parameter)
    if len(wanted) < 4:
        return []
    found = [
        cls for cls in classes_of_package(module) if _plain(cls.__name__).endswith(wanted) and not is_abstract(cls)
    ]
    return sorted(
        found,
        key=lambda cls: (
            not (attribute and any(mentions(base, attribute) for base in cls.__mro__)),
            _plain(cls.__name__) != wanted,
            cls.__module__ != module.__name__,
            len(cls.__name__),
        ),
    )


def classes_of_package(module: ModuleType) -> Iterator[type]:
    """The classes of the modules of the package that are loaded."""
    package = module.__name__.partition(".")[0]
    seen: set[type] = set()
    own = [value for name, value in sorted(sys.modules.items()) if name.partition(".")[0] == package]
    for each in (module, *own):
        names: dict[str, Any] = dict(getattr(each, "__dict__", {}))
        for value in names.values():
            if isinstance(value, type) and value not in seen and value.__module__.partition(".")[0] == package:
                seen.add(value)
                yield value


def mentions(cls: type, attribute: str) -> bool:
    """Whether ``cls`` itself defines ``attribute``, or its methods read or set it."""
    return attribute in vars(cls) or any(attribute in code.co_names for code in _codes(cls))


def _codes(cls: type) -> Iterator[Any]:
    for value in vars(cls).values():
        code = getattr(value, "__code__", None)
        if code is not None:
            yield code


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
