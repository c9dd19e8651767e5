"""Finds what other files of a package construct with a class: functions that need nothing, and the models of which it is a part.

`build_model()` in another file knows the sizes that fit one another. What it returns has the object among its submodules.
"""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....runtime.foreign_code import attempted
from ...calling.expressions import PreparedCall
from ...calling.time_limit import TrialTooLong
from ..project.package_files import LEFT_OUT, SMALL, package_files, statements_mentioning
from ..source.signatures import read_parameters
from ..terms.arguments import known_text
from ..trying.search import NotFound, SearchBudget
from .construction import Making, constructions, fitting
from .size_of_model import made_by

MOST = 6
# parameters of what a function constructs; of a larger one the part is on the meta device, too
MAX_WHOLE = 250_000_000


@dataclass(frozen=True)
class Maker:
    """A function or a class of the module ``module`` that constructs the wanted class; ``is_class`` of which that is then a part."""

    module: str
    name: str
    is_class: bool


@dataclass(frozen=True)
class Part:
    """An object of the wanted class: ``making`` is its text, ``made`` the object, ``whole`` the model that it is a part of."""

    making: Making
    made: Any
    whole: Any
    whole_making: Making

    def again(self) -> Any:
        """A new object like it."""
        copied = attempted(lambda: copy.deepcopy(self.made))
        return self.made if copied is None else copied


def parts(module: ModuleType, cls: type, budget: SearchBudget) -> Iterator[Part]:
    """Objects of ``cls`` that the package of ``module`` constructs elsewhere, those of functions that need nothing first."""
    for maker in makers(module, cls)[:MOST]:
        if not budget.left:
            return
        other = attempted(functools.partial(importlib.import_module, maker.module))
        if other is None or not hasattr(other, maker.name):
            continue
        for making in _makings(module, getattr(other, maker.name), maker, budget):
            found = _part(module, cls, making)
            if found is not None:
                yield found
                break


def _makings(module: ModuleType, made: Any, maker: Maker, budget: SearchBudget) -> Iterator[Making]:
    """Calls of ``made``, a function or a class, that return; as texts with the names of ``module``."""
    path = _path_of(made, maker)
    try:
        with unrecorded():
            if not maker.is_class:
                yield fitting(vars(module), f"{path}()", MAX_WHOLE)
                return
            yield from constructions(module, path, made, SearchBudget(8, budget.left / 2), {})
    except NotFound:
        return
    except (Exception, SystemExit):  # code of the user's may raise anything, and then this is no way to construct it
        return


def _path_of(made: Any, maker: Maker) -> str:
    """The full name of ``made``, or that of a package that exports it: `x.build` may be the function `build` of the module `x.build`."""
    parts = maker.module.split(".")
    for length in range(len(parts), 0, -1):
        path = [*parts[:length], maker.name]
        found = attempted(functools.partial(functools.reduce, getattr, path[1:], sys.modules[path[0]]))
        if found is made:
            return ".".join(path)
    return f"{maker.module}.{maker.name}"


def _part(module: ModuleType, cls: type, making: Making) -> Part | None:
    try:
        with unrecorded(), making.place():
            whole = made_by(making.text, vars(module))
    except (Exception, SystemExit):  # code of the user's may raise anything, and then this is no way to construct it
        return None
    if type(whole) is cls:
        return Part(making, whole, whole, making)
    modules = whole.named_modules() if hasattr(whole, "named_modules") else ()
    for name, each in modules:
        if type(each) is cls:
            return Part(Making(f"{making.text}.get_submodule({name!r})", making.is_meta), each, whole, making)
    for name, each in vars(whole).items() if hasattr(whole, "__dict__") else ():
        if type(each) is cls and not name.startswith("_"):
            return Part(Making(f"{making.text}.{name}", making.is_meta), each, whole, making)
    return None


def makers(module: ModuleType, cls: type) -> list[Maker]:
    """Functions without required parameters that name ``cls``, themselves or one call further, and then classes that do."""
    file, name = os.path.abspath(str(module.__file__)), cls.__name__
    found: list[Maker] = []
    for path, dotted in package_files(file, module.__name__):
        if path == file or LEFT_OUT.search(path):
            continue
        top = statements_mentioning(path, rf"\b{re.escape(name)}\(")
        found += _makers_in(top, dotted, name)
    return sorted(found, key=lambda maker: (maker.is_class, SMALL.search(maker.name) is None))


def _makers_in(top: list[ast.stmt], dotted: str, name: str) -> Iterator[Maker]:
    functions = {node.name: node for node in top if isinstance(node, ast.FunctionDef)}
    direct = {each for each, node in functions.items() if name in _called(node)}
    for each, node in functions.items():
        if each[0] != "_" and (each in direct or _called(node) & direct) and _needs_nothing(node):
            yield Maker(dotted, each, False)
    for statement in top:
        if isinstance(statement, ast.ClassDef) and name in _called(statement):
            yield Maker(dotted, statement.name, True)


def _called(node: ast.AST) -> set[str]:
    """The names of the functions that ``node`` calls."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in calls}


def _needs_nothing(node: ast.FunctionDef) -> bool:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    return len(positional) == len(arguments.defaults) and None not in arguments.kw_defaults


def inputs_within(part: Part, call: PreparedCall) -> dict[str, str]:
    """Expressions for what the part gets when ``call``, a call of the whole, is made; empty if it is not called."""
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    inside = next((each for each in call.target.modules() if type(each) is type(part.made)), None)
    if inside is None or inside is call.target:
        return {}
    handle = inside.register_forward_pre_hook(lambda _, args, named: found.append((args, named)), with_kwargs=True)
    try:
        with unrecorded():
            call.run()
    except TrialTooLong:  # of the search
        raise
    except (Exception, SystemExit) as error:  # code of the user's may raise anything; what the part got before is known
        print(f"calling the whole model ended with {type(error).__name__}", file=sys.stderr)
    finally:
        handle.remove()
    if not found:
        return {}
    names = [info.name for info in read_parameters(type(part.made).forward, skip_first=True)]
    values = {**dict(zip(names, found[0][0], strict=False)), **found[0][1]}
    texts = {name: known_text(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}
