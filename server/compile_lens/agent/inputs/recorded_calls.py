"""Compiles a model that a program was seen to make, and calls it as the program does: with its inputs, or with ones made up for it."""

from __future__ import annotations

import contextlib
import copy
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..instrument.unrecorded import uncompiled
from ..runtime.entry_plans import CallTime, CompileAt
from ..runtime.entry_protocol import MODEL_CALL, CallMade, CallNotMade, EntryCalled, ModelAssumed
from ..runtime.foreign_code import attempted
from ..runtime.wire import Wire
from ..torch_internals.attributes import original_function, original_module
from ..variations.call_snapshot import GRAD
from . import compiled_call
from .calling.call_modes import PLAIN, CallModes
from .calling.expressions import InvalidCall, PreparedCall, evaluate
from .calling.parameter_count import parameter_count
from .calling.placement import device_of
from .importing.absent import cause_of
from .recording import module_changes, surroundings
from .recording.explorer import Told, texts_of, unpacked
from .recording.model_recorder import LaterCall, RecordedModel, RecordedModelCall
from .synthesis.drafts import draft_of
from .synthesis.making.object_calls import FoundCall
from .synthesis.project.concrete_classes import method_instead
from .synthesis.source.signatures import read_parameters
from .synthesis.target import find_call, find_inputs
from .synthesis.terms.arguments import NEEDS_GRADIENT, in_words, known_text
from .synthesis.trying.search import NotFound, SearchBudget
from .timed_search import NO_TIME, SEARCH_CLOCK_S, Drafting, SearchClock, searched

# a larger model is not copied for each trial
COPIED_PARAMETERS = 30_000_000
# characters of a module's text that are compared
MOST_TEXT = 20_000
# the largest of the integers in a tensor differs from batch to batch
LIMIT = re.compile(r" < \d+")


class ModelsInTime:
    """Calls models one after the other, each as if it were the only one, until the time is up. ``done`` is how many could be called; those
    that are left join ``failed``. ``has_first``: one has been called before. ``tell`` gets what could not be called, as it is known."""

    def __init__(
        self,
        time_limit: CallTime,
        failed: list[CallNotMade],
        has_first: bool = False,
        tell: Callable[[tuple[CallNotMade, ...]], None] | None = None,
    ) -> None:
        self._processor_left = time_limit.seconds
        self.clock = SearchClock(time_limit)
        self._failed = failed
        self._tell = tell
        self._told = 0
        self._origin: tuple[int, type] | None = None
        self._known: set[object] = set()
        self.done = int(has_first)

    def call(self, name: str, alike: object, make: Callable[[], bool], origin: tuple[int, type] | None = None) -> None:
        """Call one; ``make`` tells whether that was possible. One stands for all that are ``alike``, which ``None`` is to nothing.
        Those of one ``origin``, a line and a class, are compiled in the program's one process: the next may not fit what the first has
        compiled."""
        if alike is not None and alike in self._known:
            return
        self._known.add(alike)
        if self.done and (self._processor_left <= 0 or self.clock.is_over):
            self._failed.append(CallNotMade(name, NO_TIME))
            return
        if self.done and (origin is None or not origin[0] or origin != self._origin):
            compiled_call.reset_compiler()
        self._origin = origin
        started = time.thread_time()
        is_further = self.done > 0
        self.done += make()
        self._processor_left -= is_further * (time.thread_time() - started)
        self.tell_failed()

    def tell_failed(self) -> None:
        """Tell what could not be called and is not told yet: the next one may take until the run is ended."""
        new = tuple(self._failed[self._told :])
        self._told = len(self._failed)
        if new and self._tell is not None:
            self._tell(new)


def name_of(model: RecordedModel) -> str:
    """The name of its class."""
    return type(original_module(model.module)).__name__


def likeness(model: RecordedModel) -> object:
    """What is the same for models that are compiled in the same way: their class, their parameters, and what they are called with, in all
    calls that are known: a network is judged with gradients, its slower copy without."""
    module = original_module(model.module)

    def read() -> object:
        parameters = tuple((name, tuple(each.shape)) for name, each in module.named_parameters())
        calls = [(_words(call), call.mode + call.modes.kind) for call in model.calls if call.is_complete]
        calls += [(_expressions(call), call.mode + call.modes.kind) for call in model.later]
        kinds = frozenset((LIMIT.sub("", words), mode) for words, mode in calls)
        return type(module), str(module)[:MOST_TEXT], parameters, kinds

    return attempted(read)


def _words(call: RecordedModelCall) -> str:
    """The arguments of a call as ``_expressions`` has those of a later one; in words where one has no expression."""
    texts = texts_of(call)
    return _expressions(LaterCall(*texts)) if texts is not None else in_words(call.positional, call.named)


def call_model(
    model: RecordedModel,
    file: str,
    wire: Wire,
    failed: list[CallNotMade],
    line: int = 0,
    next_s: Callable[[], float] = lambda: SEARCH_CLOCK_S,
    is_apart: bool = True,
) -> bool:
    """Compile a model, in ``line`` or where the script makes it, and call it as the script does; whether that was possible. ``next_s`` says
    how long its inputs may be searched, by the clock, where the script shows none. ``is_apart``: as for ``compiled_call.run_all``."""
    module, original = model.module, original_module(model.module)
    name, is_compiled = name_of(model), original is not model.module
    if model.complete is not None and model.complete.device is not None:
        original.to(model.complete.device)  # a trainer that ended has taken it back
    calls = [
        PreparedCall(module, call.positional, call.named, _making(original, call.changes), call.mode, call.modes)
        for call in model.calls
        if call.is_complete
    ]
    calls += _later_calls(model)
    mode, modes = _modes(model)
    calls = calls or [PreparedCall(module, *each, mode=mode, modes=modes) for each in unpacked(model.passed)]
    is_made_up = not calls
    if calls:
        inputs = in_words(calls[0].positional, calls[0].named)
    else:
        found = _found_inputs(model, name, next_s())
        if isinstance(found, CallNotMade):
            failed.append(found)
            return False
        _leave_trainer(original)
        call = evaluate(found.expression, {**_names_of(module), "__made__": module})
        calls, inputs = [replace(call, mode=mode, modes=modes)], found.inputs
    method = "" if model.calls else method_instead(type(original))
    called = f"{name}.{method}" if method else name
    made = f"{called} from line {model.line}" if model.line and not line else called
    wire.tell(EntryCalled((CallMade(MODEL_CALL, made, inputs, name),)))
    at = None if is_compiled else CompileAt(line or max(model.line, 1))
    changes = [call.changes for call in model.calls] + [call.changes for call in model.later]
    known, has_lost_hooks = len(failed), surroundings.has_lost_hooks(model.around, model.around_later)
    run = partial(compiled_call.run_within_time, wire, calls, at, file, name, failed, is_made_up, is_apart)
    with module_changes.undone(original, changes):
        with surroundings.put_back(model.around, model.around_later):
            done = run()
        if not done and has_lost_hooks:  # what they belong to has ended
            del failed[known:]
            compiled_call.reset_compiler()
            done = run()
    return done


def _leave_trainer(module: Any) -> None:
    """A module that a trainer holds is, like the copies for which its inputs were found, one that none does: the trainer has ended, and
    refuses what a step asks of it."""
    if any(isinstance(vars(base).get("trainer"), property) for base in type(module).__mro__):
        attempted(lambda: setattr(module, "trainer", None))


def _making(module: Any, changes: tuple[module_changes.Change, ...]) -> Callable[[], object] | None:
    return partial(module_changes.make, module, changes) if changes else None


def _later_calls(model: RecordedModel) -> list[PreparedCall]:
    """The calls of the copy that ran ahead, each after what had changed by then. Large tensors are random ones of their sizes."""
    found: list[PreparedCall] = []
    names = {**_names_of(model.module), "__made__": model.module}
    for later in model.later:
        before = _making(original_module(model.module), later.changes)
        for positional, named in unpacked(later.values):
            found.append(PreparedCall(model.module, positional, named, before, later.mode, later.modes))
        if not later.values:
            with contextlib.suppress(InvalidCall):
                call = evaluate(f"__made__({_expressions(later)})", names)
                found.append(replace(call, before=before, mode=later.mode, modes=later.modes))
    return found


def _expressions(call: LaterCall) -> str:
    return ", ".join([*call.positional, *(f"{name}={text}" for name, text in call.named.items())])


def _modes(model: RecordedModel) -> tuple[str, CallModes]:
    """The grad mode of calls of which the arguments alone are known, and the other modes."""
    call = model.complete or next(iter(model.calls), None)
    return (call.mode, call.modes) if call is not None else (GRAD, PLAIN)


def _found_inputs(model: RecordedModel, name: str, clock_s: float) -> FoundCall | CallNotMade:
    module = original_module(model.module)
    is_small = parameter_count(module) < COPIED_PARAMETERS

    def make() -> Any:
        copied = attempted(lambda: copy.deepcopy(module)) if is_small else None
        return module if copied is None else copied

    passed, known = _passed(module, model.calls[-1]) if model.calls else ((), {})
    owner = sys.modules.get(type(module).__module__) or sys.modules["__main__"]
    method = method_instead(type(module)) or "forward"

    def find(budget: SearchBudget) -> FoundCall:
        # while a device is in force, inputs are made there
        with uncompiled(), device_of(module) or contextlib.nullcontext():
            return find_inputs(owner, module, method, make, "__made__", budget, known, passed)

    return searched(find, name, clock_s)


def _passed(module: Any, call: RecordedModelCall) -> tuple[tuple[str, ...], dict[str, str]]:
    """The parameters for which a call passes something, and the expressions for those that are known."""
    names = [info.name for info in read_parameters(original_function(type(module).forward), skip_first=True)]
    given = {**dict(zip(names, call.positional, strict=False)), **call.named}
    values = {name: value for name, value in given.items() if value is not None}
    texts = {name: known_text(value) for name, value in values.items() if cause_of(value) is None}
    return tuple(values), {name: text for name, text in texts.items() if text is not None}


def _names_of(module: Any) -> dict[str, Any]:
    owner = sys.modules.get(type(original_module(module)).__module__)
    return vars(owner) if owner is not None else {}


def inputs_of(cls: type, told: Told) -> dict[str, str]:
    """The expressions for what the script passes to an object of ``cls``, by parameter: dtypes, shapes and literals."""
    names = [info.name for info in read_parameters(getattr(cls, "forward"), skip_first=True)]  # noqa: B009
    positional, named = told.calls[0] if told.calls else ((), {})
    texts = {**dict(zip(names, positional, strict=False)), **named}
    return {name: text.removesuffix(NEEDS_GRADIENT) for name, text in texts.items()}


def call_class(
    cls: type,
    given: dict[str, str],
    file: str,
    wire: Wire,
    failed: list[CallNotMade],
    inputs: dict[str, str] | None = None,
    line: int = 1,
    next_s: Callable[[], float] = lambda: SEARCH_CLOCK_S,
    assumed: ModelAssumed | None = None,
) -> bool:
    """Call a model that the script has not made: with what it passes, as far as that is known; a method of one without ``forward``.
    Its inputs are searched for as long as ``next_s`` says, by the clock. ``assumed`` is told if they are found."""
    owner = sys.modules[cls.__module__]
    method = method_instead(cls)
    path = f"{cls.__qualname__}.{method}" if method else cls.__qualname__

    known = None if method else inputs

    def find(budget: SearchBudget) -> FoundCall:
        return find_call(owner, path, budget, given, known)

    # it is completed as a call of the file, which has the file's names: a class of another file is written with its module
    program = sys.modules["__main__"]
    is_of_file = vars(program).get(path.partition(".")[0]) is cls
    names, written = (owner, path) if is_of_file else (program, f"{owner.__name__}.{path}")

    def draft(error: NotFound | None) -> str:
        known_call = error.draft if error is not None and is_of_file else ""
        return known_call or draft_of(names, written, given, known or {})

    found = searched(find, cls.__name__, next_s(), Drafting(names, draft, file))
    if isinstance(found, CallNotMade):
        failed.append(found)
        return False
    if assumed is not None:
        wire.tell(assumed)
    wire.tell(EntryCalled((CallMade(found.expression, found.making, found.inputs, cls.__name__),)))
    call = replace(found.evaluate(vars(owner)), mode=GRAD)
    is_made_up = not inputs  # nor do any of its calls
    return compiled_call.run_within_time(wire, [call], CompileAt(max(line, 1)), file, cls.__name__, failed, is_made_up)
