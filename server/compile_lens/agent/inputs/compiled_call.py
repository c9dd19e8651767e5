"""Compiles the target of an entry as a line of the file would, and calls it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..instrument.trace_sink import filter_records
from ..instrument.unrecorded import uncompiled, unrecorded
from ..runtime.entry_plans import CompileAt
from ..runtime.entry_protocol import CallNotMade, CallStopped
from ..runtime.wire import Wire
from ..torch_internals.dynamo import FRAME_COUNTER
from ..variations import watcher
from ..variations.call_snapshot import copied
from .calling.expressions import PreparedCall
from .calling.time_limit import CallTooLong, at_most, end_of_call, is_call_ending
from .recorded_options import offers

# of processor time for all calls of one model or function
CALLS_S = 36.0
# a further call is made if those before it took less than so many seconds of processor time
MORE_S = 15.0


def prepared(call: PreparedCall, at: CompileAt | None, file: str) -> PreparedCall:
    """``call`` with its target compiled; as it is where ``at`` is None, and the file compiles inside it."""
    if at is None:
        return call
    return PreparedCall(compile_at(call.target, file, at), call.positional, call.named)


def run_all(
    calls: Sequence[PreparedCall],
    at: CompileAt | None,
    file: str,
    name: str,
    failed: list[CallNotMade],
    is_made_up: bool = False,
    is_apart: bool = True,
) -> bool:
    """Make ``calls`` of one target, compiled as in ``prepared``; whether they returned. ``is_made_up``: nothing shows their sizes.
    ``is_apart``: what is compiled next is compiled as if it were alone.

    One that fails in eager, too, was a wrong guess: it joins ``failed``. Raises what only compiled code raises.
    """
    target = calls[0].target
    if at is not None:
        target = compile_at(target, file, at)
    started = time.thread_time()
    made = 0
    repeated = _repeated(calls[0], target) if at is not None else None
    for call in calls:
        if made and time.thread_time() - started > MORE_S:
            break
        try:
            call.run(target)
        except Exception as error:  # code of the user's may raise anything
            own = own_failure(call) if end_of_call(error) is None else None
            if own is None:
                raise
            failed.append(CallNotMade(name, f"{type(error).__name__}: {error}"))
            return False
        made += 1
    if repeated is not None:
        # a program that makes several calls repeats them itself
        again = repeated[1] if made == 1 else None
        repeated[0].after_call(again, repeated[2], is_apart=is_apart, is_made_up=is_made_up)
    return True


def run_within_time(
    wire: Wire,
    calls: Sequence[PreparedCall],
    at: CompileAt | None,
    file: str,
    name: str,
    failed: list[CallNotMade],
    is_made_up: bool = False,
    is_apart: bool = True,
) -> bool:
    """Make the calls as ``run_all`` does, within a time of their own; whether they returned, or were stopped."""
    try:
        with at_most(CALLS_S, CallTooLong):
            return run_all(calls, at, file, name, failed, is_made_up, is_apart)
    except (CallTooLong, Exception) as problem:  # the user's code, called by the compiler, may raise anything
        if end_of_call(problem) is None:
            raise
        wire.tell(CallStopped(name, CALLS_S))
        return True


def leave_out_ended_calls() -> None:
    """What the compiler says after its call was told to end says nothing of the program: it is not part of the trace.

    Strings that torch numbers (torch/_logging/structured.py, ``intern_string``) are: later records have the number alone.
    """
    filter_records(lambda record: not is_call_ending() or "str" in getattr(record, "metadata", {}))


def _repeated(
    call: PreparedCall, target: Any
) -> tuple[watcher.VariationWatcher, Callable[[], object], Callable[[], watcher.Offers]] | None:
    """Who varies the call, what makes it again with copies of its inputs, and what finds more arguments for it; None where calls are not
    varied."""
    varied = watcher.of_run()
    if varied is None:
        return None
    positional, named = copied((call.positional, call.named))
    same = replace(call, positional=positional, named=named)

    def again() -> object:
        return replace(same, before=None).run(target)

    return varied, again, partial(offers, same)


def own_failure(call: PreparedCall) -> Exception | None:
    """What ``call`` raises in eager, where it was made up: then it says nothing about the program. None where it returns."""
    try:
        with uncompiled(), unrecorded():
            call.run()
    except Exception as error:  # code of the user's may raise anything
        return error
    return None


def frames_so_far() -> int:
    """How many frames Dynamo has been given to compile in this process."""
    return int(FRAME_COUNTER.look_up() or 0)


def compile_at(target: Any, file: str, at: CompileAt) -> Any:
    """``torch.compile(target)``, called from a line of ``file`` as far as the notes can see."""
    import torch

    names: dict[str, Any] = {"compile_target": torch.compile, "target": target, "fullgraph": at.fullgraph}
    code = "\n" * (at.line - 1) + "compiled = compile_target(target, fullgraph=fullgraph)"
    exec(compile(code, file, "exec"), names)
    return names["compiled"]


def reset_compiler() -> None:
    """Make Dynamo forget what it compiled: a module that shares a line or a wrapper with the last is not a recompile."""
    import torch

    torch.compiler.reset()


def seed() -> None:
    """Use the same random numbers in every run."""
    import torch

    torch.manual_seed(0)
