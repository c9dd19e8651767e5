"""Runs a program for the sake of the model that it is about: what it calls or trains is compiled as if the file did.

A script makes the model with its own configuration and, as far as its data are here, calls it. Where the data are missing, the inputs are
made up for the arguments that the script passes.
"""

from __future__ import annotations

from functools import partial

from ..runtime.entry_plans import DocumentedExample, ModelOfScript
from ..runtime.entry_protocol import CallNotMade, EntryCalled
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.wire import Wire
from . import called_functions
from .dispatch import UnusableEntry
from .guarded_script import GuardedScript
from .recorded_calls import ModelsInTime, call_class, call_model, inputs_of, likeness, name_of

NO_MODEL = "it builds no model"
NO_MODEL_NOR_FUNCTION = "it builds no model, and calls no function of its project with tensors"


@copies_can_use_gpu()
def run(plan: ModelOfScript, file: str, source: str, wire: Wire) -> None:
    """Run the script, and call its models, compiled."""
    failed: list[CallNotMade] = []
    models = ModelsInTime(plan.time, failed)
    script = GuardedScript(file, wire)
    script.run(source, plan.seconds)
    for model in script.program.models():
        models.call(name_of(model), likeness(model), partial(call_model, model, file, wire, failed))
    for told, cls in script.program.not_made() if models.done else ():
        make = partial(call_class, cls, told.given, file, wire, failed, inputs_of(cls, told), told.line)
        models.call(told.name, (cls, str(told.given), str(told.calls[:1])), make)
    for cls, given in () if models.done else script.not_constructed():
        if not models.done:
            models.call(cls.__name__, None, partial(call_class, cls, given, file, wire, failed))
    done = models.done
    if not done and not failed:
        done = called_functions.call_all(script.program.functions(), file, source, wire, failed)
    wire.tell(EntryCalled((), tuple(failed)))
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
