"""Runs a file with the example inputs that it defines: ``get_inputs()``, ``get_init_inputs()``, ``example_inputs`` and the like."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ..runtime.entry_plans import ExampleInputs
from ..runtime.entry_protocol import CallMade, EntryCalled
from ..runtime.wire import Wire
from . import compiled_call
from .calling.expressions import PreparedCall
from .dispatch import UnusableEntry
from .importing.module import find, load

INIT_INPUTS = ("get_init_inputs", "init_inputs")


def run(plan: ExampleInputs, file: str, source: str, wire: Wire) -> None:
    """Call the target with the inputs that the file gives."""
    module = load(file, source, wire)
    compiled_call.seed()
    target = _target(module, plan.target)
    positional, named = _arguments(_value(module, plan.source, target))
    wire.tell(EntryCalled((CallMade(plan.source, plan.target),)))
    compiled_call.prepared(PreparedCall(target, positional, named), plan.compile, file).run()


def _target(module: ModuleType, name: str) -> Any:
    try:
        subject = find(module, name)
    except AttributeError:
        raise UnusableEntry(f"the imported file has no `{name}`") from None
    if not isinstance(subject, type):
        return subject
    init = next((found for found in (getattr(module, n, None) for n in INIT_INPUTS) if found is not None), None)
    positional, named = _arguments(init() if callable(init) else init) if init is not None else ((), {})
    return subject(*positional, **named)


def _value(module: ModuleType, name: str, target: Any) -> Any:
    """The value of ``name``: of the file or, dotted, of a class; of the target itself if it is an object of that class."""
    owner, _, attribute = name.rpartition(".")
    holder: Any = module
    if owner:
        cls = find(module, owner)
        holder = target if isinstance(target, cls) else cls
    value = getattr(holder, attribute)
    return value() if callable(value) and not hasattr(value, "shape") else value


def _arguments(value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments: a list or tuple, a mapping, a pair of both, or one value."""
    if isinstance(value, Mapping):
        return (), dict(value)
    if inspect.isgenerator(value):
        value = list(value)
    if isinstance(value, (list, tuple)):
        if len(value) == 2 and isinstance(value[0], (list, tuple)) and isinstance(value[1], Mapping):
            return tuple(value[0]), dict(value[1])
        return tuple(value), {}
    return (value,), {}
