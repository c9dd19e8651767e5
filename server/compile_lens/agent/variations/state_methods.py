"""Methods that a program calls on its model between two calls, and that set what ``forward`` reads: `freeze()`, `set_causal(flag)`."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any

from ..runtime.foreign_code import attempted
from .call_snapshot import CallSnapshot
from .input_variations import InputVariation
from .plain_methods import PlainMethods, definition_of

STATE = "state"
# so many methods are called, and so many are tried
MOST, MOST_TRIED = 3, 24
# larger models are not walked through for this
MOST_MODULES = 2000
TABLES = ("_parameters", "_buffers", "_modules")
TRAINING, REQUIRES_GRAD = "training", "requires_grad"
NUMBERS = (bool, int, float)


@dataclass(frozen=True, slots=True)
class StateMethod:
    """A method that sets attributes, and the arguments of each call of it."""

    name: str
    arguments: tuple[tuple[Any, ...], ...]

    @property
    def phrase(self) -> str:
        """Completes "with …"."""
        calls = (f"`.{self.name}({', '.join(map(repr, arguments))})`" for arguments in self.arguments)
        return f"the model after {', then '.join(calls)}"


def state_variations(base: CallSnapshot, module: Any) -> Iterator[InputVariation]:
    """The calls after a method of ``module`` has set what its code reads; the state is as before after each of them."""
    methods = attempted(lambda: list(state_methods(module)))
    for method in methods or ():
        calls = tuple(
            replace(base, around=partial(after, module, method.name, arguments)) for arguments in method.arguments
        )
        yield InputVariation(STATE, method.phrase, calls)


def state_methods(module: Any) -> Iterator[StateMethod]:
    """Those of the class of ``module`` that do nothing else, and that change something now."""
    parts = list(module.modules())
    if len(parts) > MOST_MODULES:
        return
    plain = PlainMethods(parts)
    count = 0
    for name, function in _tried(type(module)):
        method = _with_arguments(name, function, parts)
        if method is None or not plain.is_plain(name):
            continue
        if attempted(partial(_changes_what_is_read, module, parts, method)):
            yield method
            count += 1
            if count == MOST:
                return


def _tried(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """The public methods of a class and those that it inherits in its own package, in their order; not those that all modules have."""
    import torch

    package = cls.__module__.partition(".")[0]
    classes = [base for base in cls.__mro__ if base.__module__.partition(".")[0] == package]
    known = set(dir(torch.nn.Module))
    tried = 0
    for base in classes:
        for name, value in vars(base).items():
            if name in known or name.startswith("_") or not isinstance(value, FunctionType) or tried == MOST_TRIED:
                continue
            known.add(name)
            tried += 1
            yield name, value


def _with_arguments(name: str, function: FunctionType, parts: list[Any]) -> StateMethod | None:
    """The method with what it is called with: nothing, or another value for the one number that it demands and keeps."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    demanded = [each for each in parameters if each.default is inspect.Parameter.empty and each.kind not in (2, 4)]
    if not demanded:
        return StateMethod(name, ((),))
    definition = definition_of(function) if len(demanded) == 1 else None
    if definition is None or demanded[0].kind is inspect.Parameter.KEYWORD_ONLY:
        return None
    kept = [
        target.attr
        for node in ast.walk(definition)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == demanded[0].name
        for target in node.targets
        if isinstance(target, ast.Attribute)
    ]
    now = next((vars(part)[attr] for attr in kept for part in parts if type(vars(part).get(attr)) in NUMBERS), None)
    return None if now is None else StateMethod(name, tuple((value,) for value in _other(now)))


def _other(now: Any) -> tuple[Any, ...]:
    if isinstance(now, bool):
        return (not now,)
    return (now + 1, now + 2) if isinstance(now, int) else (now / 2, now / 4) if now else (0.5, 0.25)


def _changes_what_is_read(module: Any, parts: list[Any], method: StateMethod) -> bool:
    before = _ModuleState(parts)
    try:
        getattr(module, method.name)(*method.arguments[0])
        changed = before.changed()
    finally:
        before.restore()
    # the other mode of the whole model is a variation of its own
    if changed.get(TRAINING) == len(parts):
        del changed[TRAINING]
    own = {TRAINING, REQUIRES_GRAD}
    return any(name in own or _is_read(name, method.name, parts) for name in changed)


def _is_read(name: str, but_in: str, parts: list[Any]) -> bool:
    functions = (
        value
        for cls in {base for part in parts for base in type(part).__mro__ if not base.__module__.startswith("torch.")}
        for key, value in vars(cls).items()
        if isinstance(value, FunctionType) and key not in ("__init__", but_in)
    )
    return any(name in function.__code__.co_names for function in functions)


@contextlib.contextmanager
def after(module: Any, name: str, arguments: tuple[Any, ...]) -> Iterator[None]:
    """In the body, the method has been called; then everything is as it was."""
    state = _ModuleState(list(module.modules()))
    try:
        getattr(module, name)(*arguments)
        yield
    finally:
        state.restore()


class _ModuleState:
    """The attributes of modules, what is in their tables, and which parameters require a gradient."""

    def __init__(self, parts: list[Any]) -> None:
        self._parts = [(part, dict(vars(part)), [dict(vars(part)[table]) for table in TABLES]) for part in parts]
        parameters = {id(each): each for part in parts for each in vars(part)[TABLES[0]].values() if each is not None}
        self._gradients = [(each, each.requires_grad) for each in parameters.values()]

    def changed(self) -> dict[str, int]:
        """The names of attributes that have another value, and how many modules have one."""
        found = [
            name
            for part, attributes, tables in self._parts
            for was, now in ((attributes, vars(part)), *zip(tables, (vars(part)[t] for t in TABLES), strict=True))
            for name in {**was, **now}
            if not _is_same(was.get(name), now.get(name))
        ]
        found += [REQUIRES_GRAD for each, was in self._gradients if each.requires_grad != was]
        return {name: found.count(name) for name in dict.fromkeys(found)}

    def restore(self) -> None:
        for part, attributes, tables in self._parts:
            for was, now in ((attributes, vars(part)), *zip(tables, (attributes[t] for t in TABLES), strict=True)):
                if was.keys() != now.keys() or any(now[name] is not value for name, value in was.items()):
                    now.clear()
                    now.update(was)
        for each, was in self._gradients:
            if each.requires_grad != was:
                each.requires_grad_(was)


def _is_same(was: Any, now: Any) -> bool:
    return was is now or (type(was) is type(now) and type(was) in (*NUMBERS, str) and bool(was == now))
