"""Notes: what torch knows in process and does not write to its trace.

Each wraps one function of Dynamo, calls it unchanged, and writes an ``artifact`` record whose name begins with ``compile_lens_``.
Where this torch lacks such a function, the trace has no such note, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from ..runtime.degraded import degraded_if_it_fails
from ..runtime.libraries import torch_folder
from ..torch_internals.core import EXTRACT_STACK
from ..torch_internals.dynamo import (
    CALLBACK_FROM_STANCE,
    DISABLED_CALL,
    DYNAMO_CONTEXT_CALL,
    INLINING_TRACER,
    LOG_DYNAMO_START,
    LOG_GRAPH_BREAK,
    LOG_GRAPH_BREAK_FUNCTION,
    STANCE,
)
from ..torch_internals.inductor import AOTI_COMPILE_AND_PACKAGE
from . import break_positions, log_notes, resume_lines
from .frame_outcomes import FrameOutcomes
from .in_place import call_after_failure
from .region_calls import user_target
from .stacks import column_of, frames_outward, live_stack, summary_stack
from .trace_sink import watch_records, write_note
from .unrecorded import is_uncompiled

if TYPE_CHECKING:
    from .region_calls import RegionWatcher

MAX_TEXT = 50_000


def install(own_folder: str, watcher: RegionWatcher | None = None) -> None:
    """Install every note that this torch offers. ``own_folder`` holds the agent: its frames are left out of call stacks.

    ``watcher`` wraps what every region calls, if there is one.
    """
    Notes(own_folder, watcher).install()


class Notes:
    """The wrappers, and what they remember between calls."""

    def __init__(self, own_folder: str, watcher: RegionWatcher | None) -> None:
        self._watcher = watcher
        self._own_folder = own_folder
        self._not_users = (torch_folder(), own_folder, "<frozen")
        self._depth = 0
        # id of what Dynamo wraps -> (region, the wrapped object itself: kept alive so that no other takes its id)
        self._regions: dict[int, tuple[int, Any]] = {}
        self._region_count = 0
        # what regions compile, until it is seen to be compiled as part of another region
        # by identity, and kept alive: code that Dynamo makes may hold constants that cannot be hashed
        self._not_inlined: dict[int, tuple[CodeType, list[int]]] = {}
        # the (region, stance) of calls that are noted
        self._called: set[tuple[int, str]] = set()
        self._outcomes = FrameOutcomes(degraded_if_it_fails, self._note_skip, self._note_failed_frame)

    def install(self) -> None:
        """Wrap what this torch has."""
        DYNAMO_CONTEXT_CALL.wrap(self._around_region)
        DISABLED_CALL.wrap(self._before_disabled)
        CALLBACK_FROM_STANCE.wrap(self._before_call)
        if LOG_DYNAMO_START.is_expected:
            LOG_DYNAMO_START.wrap(self._before_frame)
        else:
            watch_records("dynamo_start", self._on_frame_record)
        self._outcomes.install()
        break_positions.install()
        resume_lines.install()
        INLINING_TRACER.wrap(self._after_inlining_begins)
        if LOG_GRAPH_BREAK.is_expected:
            LOG_GRAPH_BREAK.wrap(self._before_break)
        else:
            LOG_GRAPH_BREAK_FUNCTION.wrap(self._before_break_of_function)
        # calls that compile, and whose failure torch does not record
        export: Any = sys.modules.get("torch.export")
        if export is not None:
            self._watch_failures("torch.export.export", export.export)
        if AOTI_COMPILE_AND_PACKAGE.is_imported:
            self._watch_failures(AOTI_COMPILE_AND_PACKAGE.dotted, AOTI_COMPILE_AND_PACKAGE.get())
        log_notes.install(self._stack_of)

    def _around_region(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(context: Any, fn: Any) -> Any:
            outermost = self._depth == 0
            if outermost:
                self._region_count += 1
                with degraded_if_it_fails("the `torch.compile` call of a region"):
                    self._note_region(context, fn)
                if self._watcher is not None:
                    self._watcher.region_begins(self._region_count)
            self._depth += 1
            try:
                wrapped = original(context, fn)
            finally:
                self._depth -= 1
            # a module's context wraps its __call__ in turn: each wrapper's `fn` leads to the one region
            inner = _closure_value(wrapped, "fn")
            if inner is not None and self._watcher is not None:
                inner = self._watcher.wrap(self._region_count, wrapped, inner)
                _set_closure_value(wrapped, "fn", inner)
            if inner is not None:
                self._regions[id(inner)] = (self._region_count, inner)
            return wrapped

        return call

    def _before_disabled(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What torch returns in place of a context if nothing is to be compiled: it gives back ``fn`` itself."""

        def call(nothing: Any, fn: Any) -> Any:
            self._region_count += 1
            with degraded_if_it_fails("the `torch.compile` call of a region"):
                by_variable = (
                    os.environ.get("TORCHDYNAMO_DISABLE", "") == "1"
                )  # as torch/_dynamo/eval_frame.py reads it
                self._note_region(None, fn, "TORCHDYNAMO_DISABLE" if by_variable else "disable")
            return original(nothing, fn)

        return call

    def _note_region(self, context: Any, fn: Any, disabled: str = "") -> None:
        for frame in frames_outward(sys._getframe(1)):
            if not self._is_skipped(frame.f_code.co_filename):
                break
        else:
            return
        code = _code_of(user_target(fn))
        if code is not None:
            self._not_inlined.setdefault(id(code), (code, []))[1].append(self._region_count)
        write_note(
            "compile_lens_region",
            {
                "region": self._region_count,
                "file": frame.f_code.co_filename,
                "line": frame.f_lineno,
                "column": column_of(frame),
                "name": getattr(fn, "__qualname__", type(fn).__qualname__),
                "fullgraph": _is_fullgraph(context),
                "disabled": disabled,
                "target": {"file": code.co_filename, "line": code.co_firstlineno} if code else None,
            },
        )

    def _before_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(callback: Any) -> Any:
            # by the wrapper of a region, which knows what it wraps
            known = self._regions.get(id(sys._getframe(1).f_locals.get("fn")))
            if known is not None:
                with degraded_if_it_fails("which regions were called"):
                    self._note_called(known[0])
            return original(callback)

        return call

    def _note_called(self, region: int) -> None:
        if is_uncompiled():
            return  # a trial of ours
        stance = str(getattr(STANCE.look_up(), "stance", "default"))
        if (region, stance) not in self._called:
            self._called.add((region, stance))
            write_note("compile_lens_called", {"region": region, "stance": stance})

    def _after_inlining_begins(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def init(tracer: Any, *args: Any, **kwargs: Any) -> None:
            original(tracer, *args, **kwargs)
            _, regions = self._not_inlined.pop(id(tracer.f_code), (None, ()))
            for region in regions:
                write_note("compile_lens_inlined", {"region": region})

        return init

    def _note_skip(self, reason: str, code: CodeType, start: FrameType) -> None:
        is_wrapper = code.co_name == "inner" and code.co_filename.endswith("external_utils.py")
        if self._is_skipped(code.co_filename) and not (is_wrapper or self._is_compiled_in_place(code, start)):
            return
        write_note(
            "compile_lens_skip",
            {
                "region": self._region_of(start),
                "file": code.co_filename,
                "line": code.co_firstlineno,
                "name": code.co_name,
                "reason": str(reason),
            },
        )

    def _is_compiled_in_place(self, code: CodeType, start: FrameType) -> bool:
        """Whether it is the ``forward`` of one of torch's modules, whose ``compile()`` made the region: Dynamo skips it, and nothing else
        of the region is left."""
        region, fn = self._wrapped_by(start)
        return region is not None and code is _code_of(user_target(fn))

    def _region_of(self, start: FrameType) -> int | None:
        """The region whose wrapper is the innermost on the stack."""
        return self._wrapped_by(start)[0]

    def _wrapped_by(self, start: FrameType) -> tuple[int | None, Any]:
        """That region, and what it wraps."""
        for frame in frames_outward(start):
            if frame.f_code.co_filename.endswith("eval_frame.py"):
                known = self._regions.get(id(frame.f_locals.get("fn")))
                if known:
                    return known
        return None, None

    def _before_frame(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(code: CodeType, *args: Any, **kwargs: Any) -> Any:
            self._outcomes.frame_starts()
            with degraded_if_it_fails("the call stack of a compiled frame"):
                self._note_frame(sys._getframe(1))
            return original(code, *args, **kwargs)

        return call

    def _on_frame_record(self, logging_call: FrameType) -> None:
        self._outcomes.frame_starts()
        with degraded_if_it_fails("the call stack of a compiled frame"):
            self._note_frame(logging_call)

    def _note_frame(self, start: FrameType) -> None:
        write_note("compile_lens_frame", {"region": self._region_of(start), "stack": self._stack_of(start)})

    def _stack_of(self, start: FrameType | None) -> list[dict[str, Any]]:
        """The stack that ends in ``start``, without frames of torch's and the agent's."""
        return live_stack(start, self._not_users)

    def _before_break(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(translator: Any, *args: Any, **kwargs: Any) -> Any:
            error = kwargs.get("exc") or next((a for a in args if isinstance(a, BaseException)), None)
            if not getattr(error, "logged", False):
                with degraded_if_it_fails("exact columns of graph breaks"):
                    self._note_break(getattr(error, "real_stack", None), sys._getframe(1))
            return original(translator, *args, **kwargs)

        return call

    def _before_break_of_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(code_options: Any, *args: Any, **kwargs: Any) -> Any:
            with degraded_if_it_fails("exact columns of graph breaks"):
                self._note_break(kwargs.get("user_stack"), sys._getframe(1))
            return original(code_options, *args, **kwargs)

        return call

    def _note_break(self, stack: Any, caller: FrameType) -> None:
        if stack is None:
            stack = break_positions.positioned(EXTRACT_STACK.get(list)(), caller)
        write_note("compile_lens_break", {"stack": summary_stack(break_positions.with_positions(stack))})

    def _watch_failures(self, name: str, function: Any) -> None:
        if function is not None:
            with degraded_if_it_fails(f"the place of a call of `{name}` that failed"):
                call_after_failure(function, functools.partial(self._on_failed_call, name))

    def _on_failed_call(self, name: str, error: Exception, /, *_: Any, **__: Any) -> None:
        with degraded_if_it_fails(f"the place of a call of `{name}` that failed"):
            self._note_failed_call(name, error, sys._getframe(1))

    def _note_failed_frame(self, error: Exception, start: FrameType) -> None:
        write_note(
            "compile_lens_frame_failed",
            {
                "region": self._region_of(start),
                "type": type(error).__qualname__,
                "of_dynamo": type(error).__module__.startswith("torch._dynamo"),
                "message": str(error)[:MAX_TEXT],
                "stack": self._stack_of(start),
            },
        )

    def _note_failed_call(self, name: str, error: Exception, caller: FrameType) -> None:
        summary = traceback.TracebackException.from_exception(error, compact=True)
        inside = [frame for frame in summary.stack if not frame.filename.startswith(self._own_folder)]
        write_note(
            "compile_lens_failed_call",
            {
                "call": name,
                "type": type(error).__qualname__,
                "message": str(error)[:MAX_TEXT],
                "stack": [*self._stack_of(caller), *summary_stack(inside)],
                "traceback": "".join(summary.format())[-MAX_TEXT:],
            },
        )

    def _is_skipped(self, filename: str) -> bool:
        return filename.startswith(self._not_users)


def _is_fullgraph(context: Any) -> bool:
    """Whether every graph break of what a context of Dynamo compiles is an error."""
    known = getattr(context, "fullgraph", None)  # torch 2.11 has it, 2.8 does not
    if known is not None:
        return bool(known)
    callback = getattr(context, "callback", None)
    convert = getattr(callback, "_torchdynamo_orig_backend", None) or getattr(
        callback, "_torchdynamo_orig_callable", None
    )
    return type(convert).__name__ == "ConvertFrameAssert"


def _code_of(fn: Any) -> CodeType | None:
    """The Python code that is compiled for ``fn``: its own, or that of a module's ``forward``."""
    target = fn if not hasattr(fn, "forward") else type(fn).forward
    code = getattr(getattr(target, "__func__", target), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _closure_value(function: Any, name: str) -> Any:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or not cells or name not in code.co_freevars:
        return None
    with contextlib.suppress(ValueError):  # an empty cell
        return cells[code.co_freevars.index(name)].cell_contents
    return None


def _set_closure_value(function: Any, name: str, value: Any) -> None:
    function.__closure__[function.__code__.co_freevars.index(name)].cell_contents = value
