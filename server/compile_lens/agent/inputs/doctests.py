"""Runs the examples in a docstring in order, as doctest does."""

from __future__ import annotations
import __future__

import doctest
import inspect
from typing import Any

from ..runtime.entry_plans import CompileAt, DoctestExamples
from ..runtime.entry_protocol import CallMade, EntryCalled
from ..runtime.wire import Wire
from . import compiled_call
from .dispatch import UnusableEntry
from .importing.module import find, load


def run(plan: DoctestExamples, file: str, source: str, wire: Wire) -> None:
    """Run the examples. What they print is not compared. They see a compiled class or function under its name, if that is compiled."""
    module = load(file, source, wire)
    compiled_call.seed()
    name = plan.owner
    try:
        subject = find(module, name) if name else module
    except AttributeError:
        raise UnusableEntry(f"the imported file has no `{name}`") from None
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(subject) or "")
    if not examples:
        raise UnusableEntry(f"the docstring of {f'`{name}`' if name else 'the module'} has no examples")
    names = {**vars(module), "__name__": module.__name__}
    compiling = None if plan.compile is None else _compiling(subject, plan.compile, file)
    before = compiled_call.frames_so_far()
    wire.tell(EntryCalled((CallMade(f"doctest of {name or 'the module'}"),)))
    for number, example in enumerate(examples):
        if "SKIP" in example.source:
            continue
        flags = sum(
            feature.compiler_flag
            for feature in (getattr(__future__, word) for word in __future__.all_feature_names)
            if any(value is feature for value in names.values())
        )
        if compiling is not None:
            # the example before may have imported it
            names.update({each: compiling for each, value in names.items() if value is subject})
        code = compile(example.source, f"<doctest {name}[{number}]>", "single", flags, dont_inherit=True)
        try:
            exec(code, names)
        except Exception as error:  # the example may be expected to raise
            if example.exc_msg is None and compiled_call.frames_so_far() > before:
                raise
            if example.exc_msg is None:
                # a fragment of a page, which has the rest
                reason = f"its example raises {type(error).__name__}: {error}"
                raise UnusableEntry(reason) from None


def _compiling(subject: Any, at: CompileAt, file: str) -> Any:
    """The compiled function; for a class, a function that makes compiled objects."""
    if not isinstance(subject, type):
        return compiled_call.compile_at(subject, file, at)

    def make(*args: Any, **kwargs: Any) -> Any:
        return compiled_call.compile_at(subject(*args, **kwargs), file, at)

    return make
