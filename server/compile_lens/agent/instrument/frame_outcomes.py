"""Notes how Dynamo's attempt at each frame ended, where its caller notices: the call failed, or the frame runs eagerly, and why."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from ..torch_internals.dynamo import (
    ADD_SKIP_REASON,
    CATCH_ERRORS,
    CONFIG,
    FORMAT_ERROR,
    HAS_TENSOR_IN_FRAME,
    SKIP_FRAME,
    TRACE_RULES_CHECK,
)

# as torch 2.13 says it (torch/_dynamo/convert_frame.py); older versions write no reason but in a debug log
NO_TENSORS = "no tensor-related objects found in frame"
SKIPFILES = "frame is in the Dynamo skipfiles list"
DISABLED = "Dynamo tracing is disabled"
SKIPPED_IN_TRACING = "Dynamo decided to skip the frame while tracing: "
NO_OPERATIONS = f"{SKIPPED_IN_TRACING}No ops traced for the FX graph."
SUPPRESSED = "an error was suppressed during compilation"


class _Learned(threading.local):
    """What was learned of the frame that Dynamo has been given last in this thread."""

    reason = ""
    suppressed = ""
    has_started = False


class FrameOutcomes:
    """The wrappers around what handles a frame. ``note_skip`` and ``note_failure`` write the notes."""

    def __init__(
        self,
        guarded: Callable[[str], Any],
        note_skip: Callable[[str, CodeType, FrameType], None],
        note_failure: Callable[[Exception, FrameType], None],
    ) -> None:
        self._guarded = guarded
        self._note_skip = note_skip
        self._note_failure = note_failure
        self._frame = _Learned()

    def install(self) -> None:
        """Wrap what this torch has."""
        CATCH_ERRORS.wrap(self._around_frame)
        ADD_SKIP_REASON.wrap(self._with_reason)
        FORMAT_ERROR.wrap(self._with_suppressed)
        if not ADD_SKIP_REASON.exists:
            SKIP_FRAME.wrap(self._with_skip_frame)

    def frame_starts(self) -> None:
        """Dynamo begins to trace the frame."""
        self._frame.has_started = True

    def _around_frame(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(wrapper: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            self._frame.reason, self._frame.suppressed, self._frame.has_started = "", "", False
            try:
                result = original(wrapper, frame, *args, **kwargs)
            except Exception as error:  # raised again: this is how the user's call fails
                with self._guarded("which compile errors end a call"):
                    self._note_failure(error, sys._getframe(0))
                raise
            # torch 2.6 returns the code itself
            if getattr(result, "guarded_code", result) is None:
                with self._guarded("why Dynamo skips a function"):
                    self._note_skip(self._why_skipped(frame), frame.f_code, sys._getframe(0))
            return result

        return call

    def _with_reason(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(reason: str, frame: Any) -> Any:
            self._frame.reason = str(reason)
            return original(reason, frame)

        return call

    def _with_skip_frame(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(error: BaseException, *args: Any, **kwargs: Any) -> None:
            self._frame.reason = f"{SKIPPED_IN_TRACING}{args[0] if args else kwargs.get('msg', '')}"
            original(error, *args, **kwargs)

        return call

    def _with_suppressed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(error: BaseException, *args: Any, **kwargs: Any) -> Any:
            with self._guarded("why Dynamo skips a function"):
                self._frame.suppressed = next(iter(str(error).splitlines()), "")
            return original(error, *args, **kwargs)

        return call

    def _why_skipped(self, frame: Any) -> str:
        if self._frame.suppressed:
            return f"{SUPPRESSED}: {self._frame.suppressed}"
        if self._frame.reason:
            return self._frame.reason
        if self._frame.has_started:
            return NO_OPERATIONS
        config, is_skipfile, has_tensor = CONFIG.look_up(), TRACE_RULES_CHECK.look_up(), HAS_TENSOR_IN_FRAME.look_up()
        if is_skipfile is not None and is_skipfile(frame.f_code):
            return SKIPFILES
        if getattr(config, "disable", False):
            return DISABLED
        return NO_TENSORS if has_tensor is not None and not has_tensor(frame) else ""
