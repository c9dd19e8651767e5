"""Runs the examples in a docstring in order, as doctest does, and calls what they call as its users would."""

from __future__ import annotations
import __future__

import doctest
import inspect
from functools import partial
from typing import Any

from ..instrument.unrecorded import uncompiled
from ..runtime.entry_plans import CompileAt, DoctestExamples
from ..runtime.entry_protocol import CallMade, EntryCalled
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.wire import Wire
from ..variations import watcher
from ..variations.measure import VariedRegion
from . import compiled_call
from .calling.ahead import of_copy
from .calling.expressions import PreparedCall
from .dispatch import UnusableEntry
from .importing.module import find, load
from .left_out import call_left_out, names_of_parts
from .recorded_options import offers

# for one more call in eager, by the clock
CLOCK_S = 12.0


@copies_can_use_gpu()
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
    reached = {name}
    compiling = None if plan.compile is None else _compiling(subject, plan.compile, file, reached)
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
    if compiling is not None:
        _call_as_users_do()
        call_left_out(plan.rest, (), file, source, wire, reached)


def _compiling(subject: Any, at: CompileAt, file: str, reached: set[str]) -> Any:
    """The compiled function; for a class, a function that makes compiled objects. The names of the classes of their parts join
    ``reached``."""
    import torch

    if not isinstance(subject, type):
        return compiled_call.compile_at(subject, file, at)

    def make(*args: Any, **kwargs: Any) -> Any:
        made = subject(*args, **kwargs)
        reached.update(names_of_parts(made) if isinstance(made, torch.nn.Module) else ())
        return compiled_call.compile_at(made, file, at)

    return make


def _call_as_users_do() -> None:
    """Have the first call of what is compiled varied: what a docstring shows is one call of many. It comes after the examples, which would
    find compiled what the variations leave."""
    varied = watcher.of_run()
    if varied is None:
        return
    for region in varied.newly_called()[:1]:
        first = region.first_call
        again = partial(first.call, region.compiled) if of_copy(partial(_works, region), CLOCK_S) else None
        call = PreparedCall(region.fn, first.args, first.kwargs, mode=first.mode)
        varied.after_call(again, partial(offers, call))


def _works(region: VariedRegion) -> bool:
    """Whether the first call can be made again. Raises what the program raises."""
    with uncompiled():
        region.first_call.call(region.fn)
    return True
