"""Columns for the user stacks of graph breaks, in releases of torch whose stacks have lines only.

Dynamo knows them: each instruction that it traces has its position (Python 3.11 and later). An ``Unsupported`` is raised while the
tracers of all inlined functions are on the Python stack, so they are asked then, and what they say is kept with the error's stack.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from traceback import FrameSummary
from types import FrameType
from typing import Any

from ..torch_internals.dynamo import TRACER_STEP, UNSUPPORTED_ERROR
from ..torch_internals.lookup import torch_version
from .stacks import frames_outward

# stacks of this torch have columns (torch/_guards.py, ``loc_in_frame_positions``)
WITH_COLUMNS = (2, 13)
# an attribute of the list of frames, which torch keeps and passes on
_KEPT = "compile_lens_frames"


def install() -> None:
    """Keep positions where torch does not."""
    if _are_needed():
        UNSUPPORTED_ERROR.wrap(_keeping)


def _are_needed() -> bool:
    """Whether torch has none and Python has them."""
    return sys.version_info >= (3, 11) and torch_version() < WITH_COLUMNS


def with_positions(stack: Any) -> Any:
    """``stack`` with the columns that were kept when it was made; itself where there are none."""
    return getattr(stack, _KEPT, stack)


def positioned(stack: Any, caller: FrameType) -> Any:
    """``stack``, which Dynamo's tracers on the Python stack above ``caller`` stand for, with the columns that they know."""
    if not _are_needed():
        return stack
    frames = list(stack)
    for index, tracer in zip(range(len(frames) - 1, -1, -1), _tracers(caller), strict=False):
        known, positions = frames[index], tracer.current_instruction.positions
        if (known.filename, known.lineno) != (tracer.f_code.co_filename, tracer.lineno) or positions is None:
            break
        frames[index] = FrameSummary(
            known.filename,
            known.lineno,
            known.name,
            lookup_line=False,
            end_lineno=positions.end_lineno,
            colno=positions.col_offset,
            end_colno=positions.end_col_offset,
        )
    return frames


def _tracers(caller: FrameType) -> Iterator[Any]:
    """The tracers whose ``step`` is on the Python stack, innermost first."""
    step = TRACER_STEP.get()
    for frame in frames_outward(caller):
        if step is not None and frame.f_code is step.__code__:
            yield frame.f_locals["self"]


def _keeping(original: Callable[..., Any]) -> Callable[..., Any]:
    def init(error: Any, *args: Any, **kwargs: Any) -> None:
        original(error, *args, **kwargs)
        stack = error.real_stack
        if not hasattr(stack, _KEPT):
            setattr(stack, _KEPT, positioned(stack, sys._getframe(1)))

    return init
