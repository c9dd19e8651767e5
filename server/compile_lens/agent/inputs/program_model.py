"""Runs a program for the sake of the model that it is about: what it calls or trains is compiled as if the file did.

A script makes the model with its own configuration and, as far as its data are here, calls it. Where the data are missing, the inputs are
made up for the arguments that the script passes.
"""

from __future__ import annotations

import sys
from functools import partial

from ..runtime.entry_plans import DocumentedExample, ModelOfScript
from ..runtime.entry_protocol import CallNotMade, EntryCalled
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.wire import Wire
from . import called_functions
from .dispatch import UnusableEntry
from .guarded_script import GuardedScript
from .recorded_calls import FewModels, call_class, call_model, inputs_of
from .synthesis.drafts import plain_draft

NO_MODEL = "it builds no model"
NO_MODEL_NOR_FUNCTION = "it builds no model, and calls no function of its project with tensors"


@copies_can_use_gpu()
def run(plan: ModelOfScript, file: str, source: str, wire: Wire) -> None:
    """Run the script, and call its models, compiled."""
    script = GuardedScript(file, wire)
    script.run(source, plan.seconds)
    failed: list[CallNotMade] = []
    few = FewModels()
    for model in script.program.models():
        if few.has_room:
            few.call(partial(call_model, model, file, wire, failed))
    for told, cls in script.program.not_made() if few.done else ():
        if few.has_room:
            few.call(partial(call_class, cls, told.given, file, wire, failed, inputs_of(cls, told), told.line))
    for cls, given in () if few.done else script.not_constructed():
        if not few.done:
            few.call(partial(call_class, cls, given, file, wire, failed))
    done = few.done
    if not done and not failed:
        done = called_functions.call_all(script.program.functions(), file, source, wire, failed)
    plain = None if done or failed else plain_draft(sys.modules["__main__"])
    wire.tell(EntryCalled((), (*failed, *([plain] if plain is not None else []))))
    if not done:
        lacking = too_long(plan.seconds) if script.took_too_long else NO_MODEL_NOR_FUNCTION
        raise UnusableEntry(_why(failed, script.first_failure, lacking))


@copies_can_use_gpu()
def run_example(plan: DocumentedExample, file: str, source: str, wire: Wire) -> None:
    """Run an example that uses ``file``, and call the model that it makes, compiled."""
    script = GuardedScript(file, wire, plan.page)
    script.run(plan.text, plan.seconds)
    failed: list[CallNotMade] = []
    models = script.program.models()[:1]
    done = [call_model(model, file, wire, failed, plan.line) for model in models]
    wire.tell(EntryCalled((), tuple(failed)))
    if not any(done):
        lacking = too_long(plan.seconds) if script.took_too_long else NO_MODEL
        raise UnusableEntry(_why(failed, script.first_failure, lacking))


def too_long(seconds: float) -> str:
    """What is lacking where a program was stopped by time."""
    return f"it built no model within {seconds:g} s"


def _why(failed: list[CallNotMade], first: BaseException | None, lacking: str) -> str:
    if failed:
        return f"could not make up inputs for `{failed[0].target}`: {failed[0].reason}"
    return lacking if first is None else f"{lacking}: {type(first).__name__}: {first}"
