"""Runs a script for the sake of the model that it is about: what it calls or trains is compiled as if the script did.

The script makes the model with its own configuration and, as far as its data are here, calls it. Statements that fail are skipped with
what depends on them (``continuing.py``). Where the data are missing, the inputs are made up for the arguments that the script passes.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.machinery
import os
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

from .. import OWN_FOLDER
from ..instrument.unrecorded import uncompiled
from ..runtime.entry_plans import CompileAt, DocumentedExample, ModelOfScript
from ..runtime.entry_protocol import MODEL_CALL, ArgumentsMadeUp, CallMade, CallNotMade, EntryCalled, StatementsSkipped
from ..runtime.foreign_code import attempted
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.program import remember
from ..runtime.raised import report_aside
from ..runtime.wire import Wire
from ..torch_internals.attributes import original_function, original_module
from . import called_functions, compiled_call, missing_imports
from .absent import Absent, cause_of, given_functions
from .ahead import of_copy
from .commands import commands
from .continuing import GUARD, rewritten
from .data_loading import without_workers
from .dispatch import UnusableEntry
from .explorer import Explorer, Told
from .expressions import InvalidCall, PreparedCall, evaluate
from .failed_constructions import FailedConstructions
from .function_recorder import FunctionRecorder, RecordedFunction
from .guard import Enough, Guard
from .made_up_arguments import made_up
from .model_recorder import ModelRecorder, RecordedModel, RecordedModelCall
from .module import package_of
from .parameter_count import parameter_count
from .placement import device_of
from .synthesis.arguments import in_words, known_text
from .synthesis.object_calls import FoundCall
from .synthesis.search import NotFound, SearchBudget
from .synthesis.signatures import read_parameters
from .synthesis.target import find_call, find_inputs

# seconds for the inputs of each model
SEARCH_S = 15.0
SEARCH_CLOCK_S = 45.0
MAX_TRIALS = 60
# so many models are called, while they take less than so many seconds
MOST = 2
MORE_S = 15.0
NO_MODEL = "it builds no model"
NO_MODEL_NOR_FUNCTION = "it builds no model, and calls no function of its project with tensors"
# a larger model is not copied for each trial
COPIED_PARAMETERS = 30_000_000


@copies_can_use_gpu()
def run(plan: ModelOfScript, file: str, source: str, wire: Wire) -> None:
    """Run the script, and call its models, compiled."""
    script = _Script(file, wire)
    script.run(source, plan.seconds)
    failed: list[CallNotMade] = []
    done = 0
    started = time.monotonic()
    for model in script.models():
        if done and (done >= MOST or time.monotonic() - started > MORE_S):
            break
        if done:
            compiled_call.reset_compiler()  # each as if it were the only one
        done += _call(model, file, wire, failed)
    for told, cls in script.not_made():
        if not done or done >= MOST or time.monotonic() - started > MORE_S:
            break
        compiled_call.reset_compiler()
        done += _call_class(cls, told.given, file, wire, failed, _inputs(cls, told), told.line)
    for cls, given in () if done else script.not_constructed():
        if not done:
            done += _call_class(cls, given, file, wire, failed)
    if not done and not failed:
        done = called_functions.call_all(script.functions(), file, source, wire, failed)
    wire.tell(EntryCalled((), tuple(failed)))
    if not done:
        raise UnusableEntry(_why(failed, script.first_failure, NO_MODEL_NOR_FUNCTION))


@copies_can_use_gpu()
def run_example(plan: DocumentedExample, file: str, source: str, wire: Wire) -> None:
    """Run an example that uses ``file``, and call the model that it makes, compiled."""
    script = _Script(file, wire, plan.page)
    script.run(plan.text, plan.seconds)
    failed: list[CallNotMade] = []
    models = script.models()[:1]
    done = [_call(model, file, wire, failed, plan.line) for model in models]
    wire.tell(EntryCalled((), tuple(failed)))
    if not any(done):
        raise UnusableEntry(_why(failed, script.first_failure, NO_MODEL))


class _Script:
    """A script that runs with guards, and what is learned of its models."""

    def __init__(self, file: str, wire: Wire, page: str = "") -> None:
        self._file = file
        # where its text stands: what fails in an example is not the file's
        self._page = page or file
        self._wire = wire
        self._recorder: ModelRecorder | None = None
        self._functions: FunctionRecorder | None = None
        self._explorer: Explorer | None = None
        self._constructions = FailedConstructions()
        self._has_made_up_arguments = False
        self._has_failed = False
        self._ending: SystemExit | None = None
        self.first_failure: BaseException | None = None

    def run(self, source: str, seconds: float) -> None:
        """Run it for ``seconds`` at most, or until its models are known."""
        missing_imports.install(self._file, self._wire)
        guard = Guard(seconds, self._report, self._constructions.add)
        self._constructions.read(source)
        explorer = self._explorer = Explorer(seconds)
        functions = self._functions = FunctionRecorder(self._page, guard.check_time)

        def before_first(model: RecordedModel) -> None:
            if parameter_count(model.module):
                functions.stop()  # the script is about this model
            explorer.before_first_call(recorder.number_of(model.module), model)

        recorder = self._recorder = ModelRecorder(self._page, guard.check_time, before_first)
        names = _main_module(self._file, source, self._page != self._file).__dict__
        names[GUARD] = guard
        remember(self._page, source)
        code = rewritten(source, self._page)
        compiled_call.seed()
        try:
            with uncompiled(), recorder.recording(), made_up(self._arguments), without_workers(), functions.recording():
                exec(code, names)
                self._start_by_stubs(guard)
                self._start_commands(guard, names, source)
        except (Enough, SystemExit):
            pass  # its end
        finally:
            explorer.finish(recorder.models, recorder.number_of, recorder.given_to)
        if self._ending is not None and not self._has_made_up_arguments:
            self._tell(self._ending)
        self.first_failure = guard.first
        if guard.lines and self._page == self._file:
            self._wire.tell(StatementsSkipped(tuple(sorted(guard.lines))))

    def _start_by_stubs(self, guard: Guard) -> None:
        """Call the functions of the file that a missing library would have called with arguments of the command line."""
        assert self._recorder is not None
        for function in given_functions:
            if self._recorder.models() or function.__code__.co_filename != self._file:
                continue
            lacking = [info for info in read_parameters(function, skip_first=False) if info.required]
            absent = Absent(ModuleNotFoundError("its caller is not installed"))
            try:
                function(**{info.name: absent for info in lacking})
            except Exception as error:  # code of the user's may raise anything
                guard.failed(error, function.__code__.co_firstlineno)

    def _start_commands(self, guard: Guard, names: dict[str, Any], source: str) -> None:
        """Start what the program leaves to a library that reads the command line."""
        assert self._recorder is not None
        for command in () if self._recorder.models() else commands(names, source, self._file):
            self._arguments([command.name, *command.lacking])
            try:
                command.run()
            except (Exception, SystemExit) as error:  # code of the user's and of libraries may raise anything
                guard.failed(error, 0)
            if self._recorder.models():
                return

    def models(self) -> list[RecordedModel]:
        assert self._recorder is not None and self._explorer is not None
        found: list[RecordedModel] = []
        for told in self._explorer.told:
            model = self._recorder.known(told.number, told.name)
            if model is not None:
                model.later = told.calls
                found.append(model)
        return found or self._recorder.models()

    def not_made(self) -> Iterator[tuple[Told, type]]:
        """Models that the script makes only after the first call of its main one, where it was stopped: their classes."""
        assert self._recorder is not None and self._explorer is not None
        for told in self._explorer.told:
            cls = getattr(sys.modules.get(told.module), told.name, None)
            if isinstance(cls, type) and self._recorder.known(told.number, told.name) is None:
                yield told, cls

    def functions(self) -> list[RecordedFunction]:
        """What a script that builds no model calls with tensors."""
        return self._functions.functions() if self._functions is not None else []

    def not_constructed(self) -> Iterator[tuple[type, dict[str, str]]]:
        """Classes of models whose construction failed, with the arguments that are known."""
        yield from self._constructions.found

    def _arguments(self, names: list[str]) -> None:
        self._has_made_up_arguments = True
        self._wire.tell(ArgumentsMadeUp(tuple(names)))

    def _report(self, error: BaseException) -> None:
        """Say what the first statement raised that failed: the program itself comes no further, with made-up arguments not even so far."""
        if isinstance(error, SystemExit) and not self._has_failed:
            self._ending = (
                self._ending or error
            )  # it may have lacked arguments, which are made up when all else has run
        elif self._ending is None:
            self._tell(error)

    def _tell(self, error: BaseException) -> None:
        if self._has_failed or self._has_made_up_arguments or self._page != self._file:
            return
        self._has_failed = True
        report_aside(error, self._wire, OWN_FOLDER, "statement")


def _main_module(file: str, source: str, is_example: bool) -> types.ModuleType:
    """The module ``__main__``; in a package, as ``python -m`` makes it."""
    main = types.ModuleType("__main__")
    folder, name = package_of(file, source)
    main.__file__, main.__loader__ = file, importlib.machinery.SourceFileLoader("__main__", file)
    main.__package__ = name.rpartition(".")[0] or None
    sys.modules["__main__"] = main
    # an example stands beside the package, not in its folder; a file of the name of the package may stand beside the script
    for each in (folder,) if is_example else (os.path.dirname(file), folder):
        if each not in sys.path:
            sys.path.insert(0, each)
    return main


def _call(model: RecordedModel, file: str, wire: Wire, failed: list[CallNotMade], line: int = 0) -> bool:
    """Compile a model, in ``line`` or where the script makes it, and call it as the script does; whether that was possible."""
    module, original = model.module, original_module(model.module)
    name, is_compiled = type(original).__name__, original is not model.module
    if model.complete is not None and model.complete.device is not None:
        original.to(model.complete.device)  # a trainer that ended has taken it back
    calls = [PreparedCall(module, call.positional, call.named) for call in model.calls if call.is_complete]
    calls += _later_calls(model)
    if calls:
        inputs = in_words(calls[0].positional, calls[0].named)
    else:
        found = _found_inputs(model, name, failed)
        if found is None:
            return False
        call = evaluate(found.expression, {**_names_of(module), "__made__": module})
        calls, inputs = [call], found.inputs
    made = f"{name} from line {model.line}" if model.line and not line else name
    wire.tell(EntryCalled((CallMade(MODEL_CALL, made, inputs, name),)))
    at = None if is_compiled else CompileAt(line or max(model.line, 1))
    return compiled_call.run_within_time(wire, calls, at, file, name, failed, _grad(model))


def _later_calls(model: RecordedModel) -> list[PreparedCall]:
    """The calls of the copy that ran ahead, with random tensors of the sizes that they had there."""
    found: list[PreparedCall] = []
    names = {**_names_of(model.module), "__made__": model.module}
    for positional, named in model.later:
        arguments = ", ".join([*positional, *(f"{name}={text}" for name, text in named.items())])
        try:
            found.append(evaluate(f"__made__({arguments})", names))
        except InvalidCall:
            continue
    return found


def _grad(model: RecordedModel) -> bool:
    call = model.complete or next(iter(model.calls), None)
    return call.grad if call is not None else True


def _found_inputs(model: RecordedModel, name: str, failed: list[CallNotMade]) -> FoundCall | None:
    module = original_module(model.module)
    is_small = parameter_count(module) < COPIED_PARAMETERS

    def make() -> Any:
        copied = attempted(lambda: copy.deepcopy(module)) if is_small else None
        return module if copied is None else copied

    passed, known = _passed(module, model.calls[-1]) if model.calls else ((), {})
    owner = sys.modules.get(type(module).__module__) or sys.modules["__main__"]

    def find() -> FoundCall | CallNotMade:
        try:
            # while a device is in force, inputs are made there
            with uncompiled(), device_of(module) or contextlib.nullcontext():
                budget = SearchBudget(MAX_TRIALS, SEARCH_S)
                return find_inputs(owner, module, "forward", make, "__made__", budget, known, passed)
        except NotFound as error:
            return CallNotMade(name, str(error))

    return _found(of_copy(find, SEARCH_CLOCK_S), name, failed)


def _found(result: FoundCall | CallNotMade | None, name: str, failed: list[CallNotMade]) -> FoundCall | None:
    if isinstance(result, FoundCall):
        return result
    failed.append(result or CallNotMade(name, f"the search for inputs took more than {SEARCH_CLOCK_S:.0f} s"))
    return None


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


def _inputs(cls: type, told: Told) -> dict[str, str]:
    """The expressions for what the script passes to an object of ``cls``, by parameter."""
    names = [info.name for info in read_parameters(getattr(cls, "forward"), skip_first=True)]  # noqa: B009
    positional, named = told.calls[0] if told.calls else ((), {})
    return {**dict(zip(names, positional, strict=False)), **named}


def _call_class(
    cls: type,
    given: dict[str, str],
    file: str,
    wire: Wire,
    failed: list[CallNotMade],
    inputs: dict[str, str] | None = None,
    line: int = 1,
) -> bool:
    """Call a model that the script has not made: with what it passes, as far as that is known."""
    owner = sys.modules[cls.__module__]

    def find() -> FoundCall | CallNotMade:
        try:
            return find_call(owner, cls.__qualname__, SearchBudget(MAX_TRIALS, SEARCH_S), given, inputs)
        except (NotFound, AttributeError) as error:
            return CallNotMade(cls.__name__, str(error))

    found = _found(of_copy(find, SEARCH_CLOCK_S), cls.__name__, failed)
    if found is None:
        return False
    wire.tell(EntryCalled((CallMade(found.expression, found.making, found.inputs, cls.__name__),)))
    call = found.evaluate(vars(owner))
    return compiled_call.run_within_time(wire, [call], CompileAt(max(line, 1)), file, cls.__name__, failed)


def _why(failed: list[CallNotMade], first: BaseException | None, lacking: str) -> str:
    if failed:
        return f"could not make up inputs for `{failed[0].target}`: {failed[0].reason}"
    return lacking if first is None else f"{lacking}: {type(first).__name__}: {first}"
