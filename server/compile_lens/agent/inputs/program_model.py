"""Runs a program for the sake of the model that it is about: what it calls or trains is compiled as if the file did.

A script makes the model with its own configuration and, as far as its data are here, calls it. Where the data are missing, the inputs are
made up for the arguments that the script passes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ..runtime.entry_plans import DocumentedExample, ModelOfScript
from ..runtime.entry_protocol import CallNotMade, EntryCalled, ModelAssumed
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.wire import Wire
from ..torch_internals.attributes import original_module
from . import called_functions
from .calling.parameter_count import parameter_count
from .dispatch import UnusableEntry
from .guarded_script import GuardedScript
from .importing.as_written import runs_as_written
from .left_out import call_left_out
from .recorded_calls import ModelsInTime, call_class, call_model, inputs_of, likeness, name_of
from .recording.model_recorder import RecordedModel
from .synthesis.drafts import plain_draft
from .uses_of_file import defined_by, line_of, owned_by

# of the time for calls, by the clock: a program that is still at one statement then is ended, and its models are called
OF_CLOCK = 0.7
# classes that the script names and does not construct
MOST_NAMED = 3
# and classes that it imports
MOST_IMPORTED = 2
NO_MODEL = "it builds no model"
NO_MODEL_NOR_FUNCTION = "it builds no model, and calls no function of its project with tensors"


@copies_can_use_gpu()
def run(plan: ModelOfScript, file: str, source: str, wire: Wire) -> None:
    """Run the script, and call its models, compiled."""
    failed: list[CallNotMade] = []
    models = ModelsInTime(plan.time, failed, tell=lambda new: wire.tell(EntryCalled((), new)))
    script = GuardedScript(file, wire)
    script.run(source, plan.seconds, plan.time.clock_seconds * OF_CLOCK, plan.memory_bytes)
    not_named: list[CallNotMade] = []
    made = script.program.models()
    # a loss, or nothing: the model would have come later
    lacks_main = script.was_ended and not any(parameter_count(model.module) for model in made) and not runs_as_written()
    if lacks_main:
        _call_unmade(script, models, file, wire, failed, not_named)
    for model, is_apart in _by_origin(made):
        make = partial(call_model, model, file, wire, failed, next_s=models.clock.next_s, is_apart=is_apart)
        models.call(name_of(model), likeness(model), make, _origin(model))
    for told, cls in script.program.not_made() if models.done else ():
        inputs, next_s = inputs_of(cls, told), models.clock.next_s
        make = partial(call_class, cls, told.given, file, wire, failed, inputs, told.line, next_s)
        models.call(told.name, (cls, str(told.given), str(told.calls[:1])), make)
    if not models.done and not lacks_main and not runs_as_written():
        _call_unmade(script, models, file, wire, failed, not_named)
    for model in script.program.parts() if not models.done and not runs_as_written() else ():
        models.call(name_of(model), likeness(model), partial(call_model, model, file, wire, failed))
        if models.done:
            break
    done = models.done
    if not done and not failed:
        done = called_functions.call_all(script.program.functions(), file, source, wire, failed)
    if not done and not failed and not not_named and not runs_as_written():
        _call_imported(script, models, file, wire, not_named)
        done = models.done
    failed += not_named
    plain = None if done or failed else plain_draft(sys.modules["__main__"])
    models.tell_failed()
    wire.tell(EntryCalled((), (plain,) if plain is not None else ()))
    if not done:
        lacking = too_long(plan.seconds) if script.took_too_long else NO_MODEL_NOR_FUNCTION
        raise UnusableEntry(_why(failed, script.first_failure, lacking))


def _by_origin(made: list[RecordedModel]) -> Iterator[tuple[RecordedModel, bool]]:
    """The models that one line makes of one class after one another, and whether each is the last of these."""
    first = {_origin(model): number for number, model in reversed(list(enumerate(made)))}
    ordered = sorted(made, key=lambda model: first[_origin(model)])
    for number, model in enumerate(ordered):
        is_last = number + 1 == len(ordered)
        yield model, is_last or not model.line or _origin(model) != _origin(ordered[number + 1])


def _origin(model: RecordedModel) -> tuple[int, type]:
    return model.line, type(original_module(model.module))


def _call_unmade(
    script: GuardedScript,
    models: ModelsInTime,
    file: str,
    wire: Wire,
    failed: list[CallNotMade],
    not_named: list[CallNotMade],
) -> None:
    """Call the first model that the script failed to construct, or that it names where it has not come."""
    for cls, given in script.not_constructed():
        if not models.done:
            make = partial(call_class, cls, given, file, wire, failed, next_s=models.clock.next_s)
            models.call(cls.__name__, None, make)
    for named in script.named_models() if not models.done and script.was_ended else ():
        next_s = models.clock.next_s
        make = partial(call_class, named.cls, named.given, file, wire, not_named, line=named.line, next_s=next_s)
        models.call(named.cls.__name__, None, make)
        if models.done or len(not_named) == MOST_NAMED:
            return


def _call_imported(
    script: GuardedScript, models: ModelsInTime, file: str, wire: Wire, failed: list[CallNotMade]
) -> None:
    """Call the first model that the script imports, where nothing is known of what it constructs."""
    for found in itertools.islice(script.imported_models(), MOST_IMPORTED):
        cls = found.model.cls
        call = partial(call_class, cls, found.model.given, file, wire, failed, line=found.model.line)
        assumed = ModelAssumed(cls.__name__, found.file, found.missing)
        models.call(cls.__name__, None, partial(call, next_s=models.clock.next_s, assumed=assumed))
        if models.done:
            return


@copies_can_use_gpu()
def run_example(plan: DocumentedExample, file: str, source: str, wire: Wire) -> None:
    """Run an example that uses ``file``, and call the model of the file that it makes, else the one that it is about, compiled; where it
    makes none, the functions and methods of the file that it calls with tensors."""
    script = GuardedScript(file, wire, plan.page, owned_by(file))
    script.run(plan.text, plan.seconds)
    failed: list[CallNotMade] = []
    made = script.program.models()
    called = [model for model in made[:1] if call_model(model, file, wire, failed, plan.line)]
    if not made:
        # the lines of the page are not those of the file
        own = [replace(function, line=0) for function in script.program.functions_in(lambda path: path == file)]
        if called_functions.call_all(own, file, source, wire, failed):
            wire.tell(EntryCalled((), tuple(failed)))
            return
    wire.tell(EntryCalled((), tuple(failed)))
    if not called:
        lacking = too_long(plan.seconds) if script.took_too_long else NO_MODEL
        raise UnusableEntry(_why(failed, script.first_failure, lacking))
    names = _call_further(script, made[1:], called, plan, file, wire)
    call_left_out(plan.rest, called, file, source, wire, names)


def _call_further(
    script: GuardedScript,
    made: list[RecordedModel],
    called: list[RecordedModel],
    plan: DocumentedExample,
    file: str,
    wire: Wire,
) -> set[str]:
    """Call the other models of the file that an example makes, as it makes them; the names of the classes of those that it makes only after
    the first call. Those that could be called join ``called``; what cannot is left to made-up arguments, so that is not told."""
    aside: list[CallNotMade] = []
    models = ModelsInTime(plan.time, aside, has_first=True)
    defines = defined_by(file)
    known = {type(original_module(model.module)) for model in called}
    for model in made:
        cls = type(original_module(model.module))
        if not defines(cls) or cls in known:
            continue
        done = models.done
        models.call(cls.__name__, None, partial(call_model, model, file, wire, aside, line_of(cls)))
        called += [model] * (models.done - done)
        known.add(cls)
    late: set[str] = set()
    for told, cls in script.program.not_made():
        if not defines(cls) or cls in known:
            continue
        done = models.done
        make = partial(call_class, cls, told.given, file, wire, aside, inputs_of(cls, told), line_of(cls))
        models.call(told.name, None, make)
        late |= {cls.__name__} if models.done > done else set()
        known.add(cls)
    return late


def too_long(seconds: float) -> str:
    """What is lacking where a program was stopped by time."""
    return f"it built no model within {seconds:g} s"


def _why(failed: list[CallNotMade], first: BaseException | None, lacking: str) -> str:
    if failed:
        return f"could not make up inputs for `{failed[0].target}`: {failed[0].reason}"
    return lacking if first is None else f"{lacking}: {type(first).__name__}: {first}"
