"""Runs a test or a script that uses the analyzed file, and makes its calls of what the file defines again, compiled.

Who wrote them knew how a class is constructed and called. What they use of it is compiled as if the file compiled it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..runtime.entry_plans import CallTarget, UsingScript, UsingTest
from ..runtime.entry_protocol import CallNotMade, EntryCalled
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.program_text import read
from ..runtime.wire import Wire
from ..torch_internals.attributes import original_module
from . import called_functions, compiled_call
from .calling.time_limit import at_most
from .dispatch import UnusableEntry
from .guarded_script import GuardedScript
from .importers import test_of
from .importing.module import load
from .left_out import call_left_out
from .recorded_calls import ModelsInTime, call_model, likeness, name_of
from .recording.explorer import longest_by_clock
from .recording.model_recorder import RecordedModel
from .recording.watched_program import WatchedProgram
from .scripts.guard import Enough
from .synthesis.trying.search import sentence_of


@copies_can_use_gpu()
def run_script(plan: UsingScript, file: str, source: str, wire: Wire) -> None:
    """Run the script; what it imports of ``file`` has the text ``source``."""
    text = read(plan.path)
    sys.path.insert(0, os.path.dirname(plan.path))
    load(file, source, wire, is_helped=False)
    sys.argv = [plan.path]
    script = GuardedScript(file, wire, plan.path, owned_by(file))
    script.run(text, plan.seconds, memory_bytes=plan.memory_bytes)
    _call(script.program, plan, file, source, wire, script.first_failure)


@copies_can_use_gpu()
def run_test(plan: UsingTest, file: str, source: str, wire: Wire) -> None:
    """Run the test; what it imports of ``file`` has the text ``source``."""
    path = plan.node.partition("::")[0]
    sys.path.insert(0, os.path.dirname(path))
    load(file, source, wire, is_helped=False)
    test = test_of(plan.node)
    end = time.monotonic() + plan.seconds

    def check_time() -> None:
        if time.monotonic() > end:
            raise Enough

    def body() -> None:
        with at_most(plan.seconds, Enough):
            test.run()

    program = WatchedProgram(path, longest_by_clock(plan.seconds), check_time, owned_by(file))
    compiled_call.seed()
    program.run(body)
    error = test.error if isinstance(test.error, Exception) else None
    _call(program, plan, file, source, wire, error)


def owned_by(file: str) -> Callable[[Any], bool]:
    """Whether a module is one of the classes that ``file`` defines."""
    defines = defined_by(file)
    return lambda module: defines(type(module))


def defined_by(file: str) -> Callable[[type], bool]:
    """Whether ``file`` defines a class."""
    known: dict[type, bool] = {}

    def defines(cls: type) -> bool:
        if cls not in known:
            # the program that uses the file may stand in its place
            module = sys.modules.get(cls.__module__) if cls.__module__ != "__main__" else None
            defined_in = getattr(module, "__file__", None) or ""
            known[cls] = defined_in == file or (
                os.path.basename(defined_in) == os.path.basename(file) and _is_same(defined_in, file)
            )
        return known[cls]

    return defines


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _call(
    program: WatchedProgram,
    plan: UsingTest | UsingScript,
    file: str,
    source: str,
    wire: Wire,
    failure: BaseException | None,
) -> None:
    """Call what the program used of the file, then what it left out. Raises UnusableEntry where it used nothing that can be repeated."""
    owns = owned_by(file)
    lines = {
        target.name.partition(".")[0]: target.compile.line for target in plan.targets if target.compile is not None
    }
    failed: list[CallNotMade] = []
    models = ModelsInTime(plan.time, failed)
    used = sorted((m for m in program.models() if owns(original_module(m.module))), key=_is_other(plan.targets))
    for model in used:
        line = lines.get(name_of(model)) or line_of(type(original_module(model.module)))
        models.call(name_of(model), likeness(model), partial(call_model, model, file, wire, failed, line))
    done = models.done
    if not done and not failed:
        # the lines of the test or script are not those of the file
        own = [replace(function, line=0) for function in program.functions_in(lambda path: path == file)]
        done = called_functions.call_all(own, file, source, wire, failed)
    wire.tell(EntryCalled((), tuple(failed)))
    if not done:
        raise UnusableEntry(_why(failed, failure))
    call_left_out(plan.rest, used if models.done else (), file, source, wire)


def _is_other(targets: Sequence[CallTarget]) -> Callable[[RecordedModel], bool]:
    main = targets[0].name.partition(".")[0]
    return lambda model: name_of(model) != main


def line_of(cls: type) -> int:
    """The line of the class of a model that is none of the targets; that of its ``forward``."""
    code = getattr(getattr(cls, "forward", None), "__code__", None)
    return code.co_firstlineno if code is not None else 1


def _why(failed: Sequence[CallNotMade], failure: BaseException | None) -> str:
    if failed:
        return f"its call of `{failed[0].target}` cannot be repeated: {failed[0].reason}"
    if failure is not None:
        return f"it raises {sentence_of(failure)}"
    return "it calls nothing of the file with tensors"
