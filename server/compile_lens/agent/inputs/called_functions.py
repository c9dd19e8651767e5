"""Compiles the functions that a script without a model calls with tensors, and repeats the calls that it made."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

from ..instrument.unrecorded import uncompiled, unrecorded
from ..runtime.entry_plans import CompileAt
from ..runtime.entry_protocol import FUNCTION_CALL, CallMade, CallNotMade, EntryCalled
from ..runtime.wire import Wire
from ..variations.call_snapshot import copied
from . import compiled_call
from .calling.ahead import of_copy
from .calling.coverage import RanSoFar
from .calling.expressions import PreparedCall
from .recording.function_recorder import RecordedFunction
from .synthesis.terms.arguments import in_words
from .synthesis.trying.search import sentence_of

# so many functions are called, while they take less than so many seconds
MOST = 3
MORE_S = 20.0
# one call in eager, by the clock
REHEARSAL_S = 20.0


def call_all(
    functions: Sequence[RecordedFunction], file: str, source: str, wire: Wire, failed: list[CallNotMade]
) -> int:
    """Compile ``functions``, the first ones, and call them as the script did; how many could be called."""
    if functions:
        _unguard(file, source)
    # in a test or an example, the file is a module
    own = (each.calls[0].function.__module__ for each in functions if each.code.co_filename == file)
    coverage = RanSoFar(file, next(own, "__main__"))
    started = time.monotonic()
    done = 0
    for function in functions:
        if done and (done >= MOST or time.monotonic() - started > MORE_S):
            break
        if done:
            compiled_call.reset_compiler()  # each as if it were the only one
        done += _call(function, file, source, wire, failed, coverage)
    return done


def _call(
    function: RecordedFunction,
    file: str,
    source: str,
    wire: Wire,
    failed: list[CallNotMade],
    coverage: RanSoFar,
) -> bool:
    first = function.calls[0]
    name = getattr(first.function, "__qualname__", function.code.co_name).rpartition("<locals>.")[2]
    owner = getattr(first.function, "__self__", None)
    alike = [
        PreparedCall(first.function, call.positional, call.named, mode=call.mode)
        for call in function.calls
        if getattr(call.function, "__self__", None) is owner
    ]
    problem = _rehearse(alike[0], coverage)
    if problem:
        failed.append(CallNotMade(name, problem))
        return False
    inputs = in_words(first.positional, first.named)
    made = f"{name} from line {function.line}" if function.line else name
    wire.tell(EntryCalled((CallMade(FUNCTION_CALL, made, inputs, name),)))
    is_own = function.code.co_filename == file
    at = CompileAt(_line_of_def(function.code, source) if is_own else function.line)
    is_done = compiled_call.run_within_time(wire, alike, at, file, name, failed)
    if is_done:
        wire.tell(coverage.covered(source))
    return is_done


def _rehearse(call: PreparedCall, coverage: RanSoFar) -> str:
    """Make the call in eager in a copy of the process, and note what it runs; why it cannot be repeated, or ''."""

    def rehearsed() -> tuple[str, RanSoFar]:
        positional, named = copied((call.positional, call.named))
        try:
            with uncompiled(), unrecorded(), coverage.watching():
                replace(call, positional=positional, named=named).run()
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            return sentence_of(error), coverage
        return "", coverage

    found = of_copy(rehearsed, REHEARSAL_S)
    if found is None:
        return f"its call took more than {REHEARSAL_S:.0f} s"
    problem, ran = found
    coverage.lines |= ran.lines
    coverage.functions |= ran.functions
    return str(problem)


def _unguard(file: str, source: str) -> None:
    """Give the functions of the script the code that the user wrote: it ran with guards around its statements (``continuing.py``)."""
    written = {
        (code.co_name, code.co_firstlineno): code for code in _codes(compile(source, file, "exec", dont_inherit=True))
    }
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename == file:
            code = written.get((function.__code__.co_name, function.__code__.co_firstlineno))
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code


def _codes(code: CodeType) -> list[CodeType]:
    inside: list[Any] = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(found for each in inside for found in _codes(each))]


def _line_of_def(code: CodeType, source: str) -> int:
    """The line of ``def``; the code of a decorated function begins at its decorators."""
    lines = source.splitlines()
    for number in range(code.co_firstlineno, min(code.co_firstlineno + 20, len(lines) + 1)):
        if lines[number - 1].lstrip().startswith((f"def {code.co_name}", f"async def {code.co_name}")):
            return number
    return code.co_firstlineno
