"""Calls what an example or a test of a file leaves out of it, with synthesized inputs: who has written it had one class in mind."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from ..runtime.entry_plans import SynthesizedCalls
from ..runtime.parsed_source import parsed
from ..runtime.wire import Wire
from ..torch_internals.attributes import original_module
from . import compiled_call
from .calls import call_rest
from .recorded_calls import name_of
from .recording.model_recorder import RecordedModel


def call_left_out(
    rest: SynthesizedCalls | None,
    models: Iterable[RecordedModel],
    file: str,
    source: str,
    wire: Wire,
    others: Collection[str] = (),
) -> None:
    """Call the targets of ``rest`` that none of ``models``, which were called, is or has as a part, and that are not among ``others``, the
    names of classes that were called. Raises what only compiled calls raise.

    Nothing where they have left out what the file is about: another entry is tried for that.
    """
    if rest is None or not rest.targets:
        return
    reached = {*others} | {
        name for model in models for name in (name_of(model), *names_of_parts(original_module(model.module)))
    }
    if _class_of(rest.targets[0].name) not in reached:
        return
    # a function may have run in what was called: it is listed, and not called once more
    reached |= _functions(source)
    left = tuple(target for target in rest.targets if _class_of(target.name) not in reached)
    if left:
        compiled_call.reset_compiler()
        call_rest(replace(rest, targets=left), file, source, wire)


def _functions(source: str) -> set[str]:
    tree = parsed(source)
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} if tree is not None else set()


def _class_of(target: str) -> str:
    return target.partition(".")[0]


def names_of_parts(module: Any) -> set[str]:
    """The names of the classes of all modules in ``module``, and of those that they inherit from."""
    return {cls.__name__ for part in module.modules() for cls in type(part).__mro__}
