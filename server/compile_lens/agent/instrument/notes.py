"""Notes: what torch knows in process and does not write to its trace.

Each wraps one function of Dynamo, calls it unchanged, and writes an ``artifact`` record whose name begins with ``compile_lens_``.
A torch that lacks one of these functions gives a trace without that note, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from . import log_notes
from .trace_sink import write_note

if TYPE_CHECKING:
    from .region_calls import RegionWatcher

MOST_FRAMES = 80
MOST_TEXT = 50_000
# calls that compile, and whose failure torch records nowhere: (module, function)
COMPILING_CALLS = (("torch.export", "export"), ("torch._inductor", "aoti_compile_and_package"))


def install(own_folder: str, watcher: RegionWatcher | None = None) -> None:
    """Install every note that this torch offers. ``own_folder`` holds the agent: its frames are left out of call stacks.

    ``watcher`` sees the calls of every region, if there is one.
    """
    Notes(own_folder, watcher).install()


class Notes:
    """The wrappers, and what they need to remember between calls."""

    def __init__(self, own_folder: str, watcher: RegionWatcher | None) -> None:
        import torch

        self._watcher = watcher
        self._own_folder = own_folder
        self._torch_folder = str(torch.__path__[0])
        self._depth = 0
        # id of what Dynamo wraps -> (region, the wrapped object itself: kept alive so that no other takes its id)
        self._regions: dict[int, tuple[int, Any]] = {}
        self._region_count = 0

    def install(self) -> None:
        """Wrap what this torch has."""
        import torch._dynamo.convert_frame as convert_frame
        import torch._dynamo.eval_frame as eval_frame
        import torch._dynamo.symbolic_convert as symbolic_convert

        context: Any = eval_frame._TorchDynamoContext
        self._wrap(context, "__call__", self._around_region)
        self._wrap(convert_frame, "log_dynamo_start", self._before_frame)
        self._wrap(convert_frame, "add_skip_reason", self._before_skip)
        translator: Any = getattr(symbolic_convert, "InstructionTranslatorBase", None)
        if translator is not None:
            self._wrap(translator, "log_graph_break", self._before_break)
        for module, name in COMPILING_CALLS:
            owner = sys.modules.get(module)
            if owner is not None:
                self._wrap(owner, name, functools.partial(self._around_compiling_call, f"{module}.{name}"))
        log_notes.install(self._stack_of)

    @staticmethod
    def _wrap(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, functools.wraps(original)(make(original)))

    def _around_region(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(context: Any, fn: Any) -> Any:
            outermost = self._depth == 0
            if outermost:
                self._region_count += 1
                with contextlib.suppress(Exception):
                    self._note_region(fn)
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
                inner = self._watcher.spy(self._region_count, wrapped, inner)
                _set_closure_value(wrapped, "fn", inner)
            if inner is not None:
                self._regions[id(inner)] = (self._region_count, inner)
            return wrapped

        return call

    def _note_region(self, fn: Any) -> None:
        for frame in _frames_outwards(sys._getframe(1)):
            if not self._is_inside(frame.f_code.co_filename):
                break
        else:
            return
        target = fn if not hasattr(fn, "forward") else type(fn).forward
        code = getattr(getattr(target, "__func__", target), "__code__", None)
        write_note(
            "compile_lens_region",
            {
                "region": self._region_count,
                "file": frame.f_code.co_filename,
                "line": frame.f_lineno,
                "name": getattr(fn, "__qualname__", type(fn).__qualname__),
                "target": {"file": code.co_filename, "line": code.co_firstlineno} if code else None,
            },
        )

    def _before_skip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(reason: str, frame: Any) -> Any:
            with contextlib.suppress(Exception):
                self._note_skip(reason, frame.f_code, sys._getframe(1))
            return original(reason, frame)

        return call

    def _note_skip(self, reason: str, code: CodeType, start: FrameType) -> None:
        if self._is_inside(code.co_filename):
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

    def _region_of(self, start: FrameType) -> int | None:
        """The region whose wrapper is the innermost on the stack."""
        for frame in _frames_outwards(start):
            if frame.f_code.co_filename.endswith("eval_frame.py"):
                known = self._regions.get(id(frame.f_locals.get("fn")))
                if known:
                    return known[0]
        return None

    def _before_frame(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(code: CodeType, *args: Any, **kwargs: Any) -> Any:
            with contextlib.suppress(Exception):
                self._note_frame(sys._getframe(1))
            return original(code, *args, **kwargs)

        return call

    def _note_frame(self, start: FrameType) -> None:
        write_note("compile_lens_frame", {"region": self._region_of(start), "stack": self._stack_of(start)})

    def _stack_of(self, start: FrameType) -> list[dict[str, Any]]:
        """The frames from the outermost to ``start``, without torch's and the agent's."""
        stack: list[dict[str, Any]] = []
        for frame in _frames_outwards(start):
            if not self._is_inside(frame.f_code.co_filename) and len(stack) < MOST_FRAMES:
                stack.append(
                    _stack_entry(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, _position(frame))
                )
        stack.reverse()
        return stack

    def _before_break(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(translator: Any, *args: Any, **kwargs: Any) -> Any:
            error = kwargs.get("exc") or next((a for a in args if isinstance(a, BaseException)), None)
            if not getattr(error, "logged", False):
                with contextlib.suppress(Exception):
                    self._note_break(error)
            return original(translator, *args, **kwargs)

        return call

    def _note_break(self, error: Any) -> None:
        import torch._guards

        stack = getattr(error, "real_stack", None)
        if stack is None:
            stack = torch._guards.TracingContext.extract_stack()
        entries = [_stack_entry(s.filename, s.lineno or 0, s.name, _summary_position(s)) for s in stack]
        write_note("compile_lens_break", {"stack": entries})

    def _around_compiling_call(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except Exception as error:
                with contextlib.suppress(Exception):
                    self._note_failed_call(name, error, sys._getframe(1))
                raise

        return call

    def _note_failed_call(self, name: str, error: Exception, caller: FrameType) -> None:
        summary = traceback.TracebackException.from_exception(error, compact=True)
        inside = [_stack_entry(s.filename, s.lineno or 0, s.name, _summary_position(s)) for s in summary.stack]
        write_note(
            "compile_lens_failed_call",
            {
                "call": name,
                "type": type(error).__qualname__,
                "message": str(error)[:MOST_TEXT],
                "stack": [
                    *self._stack_of(caller),
                    *(entry for entry in inside if not entry["file"].startswith(self._own_folder)),
                ],
                "traceback": "".join(summary.format())[-MOST_TEXT:],
            },
        )

    def _is_inside(self, filename: str) -> bool:
        return filename.startswith((self._torch_folder, self._own_folder, "<frozen"))


def _frames_outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _closure_value(function: Any, name: str) -> Any:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or not cells or name not in code.co_freevars:
        return None
    with contextlib.suppress(ValueError):  # an empty cell
        return cells[code.co_freevars.index(name)].cell_contents
    return None


def _set_closure_value(function: Any, name: str, value: Any) -> None:
    function.__closure__[function.__code__.co_freevars.index(name)].cell_contents = value


Position = tuple[int | None, int | None, int | None]  # end line, start byte, end byte (from 0)


def _position(frame: FrameType) -> Position:
    """Where in its line a live frame is (``co_positions``, Python 3.11 and later)."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return None, None, None
    for index, (_, end_line, start, end) in enumerate(positions()):
        if index == frame.f_lasti // 2:
            return end_line, start, end
    return None, None, None


def _summary_position(summary: traceback.FrameSummary) -> Position:
    return (
        getattr(summary, "end_lineno", None),
        getattr(summary, "colno", None),
        getattr(summary, "end_colno", None),
    )


def _stack_entry(file: str, line: int, name: str, position: Position) -> dict[str, Any]:
    """One level of a stack. Columns count code points from 1; ``end_column`` is exclusive and belongs to ``end_line``.

    ``end_line`` is None where Dynamo does not keep it (torch 2.13 keeps columns alone): then ``end_column`` is in bytes from 0,
    of a line that only the syntax tree can tell, and is sent as ``end_byte``.
    """
    end_line, start, end = position
    entry: dict[str, Any] = {"file": file, "line": line, "name": name, "text": linecache.getline(file, line).strip()}
    if start is not None and end is not None:
        entry["column"] = _column(file, line, start)
        if end_line is not None:
            entry["end_line"] = end_line
            entry["end_column"] = _column(file, end_line, end)
        else:
            entry["end_byte"] = end
    return entry


def _column(file: str, line: int, byte: int) -> int:
    text = linecache.getline(file, line).encode()
    return len(text[:byte].decode("utf-8", "ignore")) + 1
