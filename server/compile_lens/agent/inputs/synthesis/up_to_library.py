"""Calls that end where they need a library which is not here: what stands before can be compiled, as it is with the library."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace
from typing import Any

from ... import OWN_FOLDER
from ...instrument.unrecorded import uncompiled, unrecorded
from ..importing.absent import is_refused
from .making.object_calls import FoundCall
from .trying.search import NotFound, sentence_of


def up_to_library(failed: NotFound, names: dict[str, Any], file: str) -> FoundCall | None:
    """The call that came furthest of a search that ``failed``, if it ended at a stub, and computes with tensors before: called in
    ``file``, with its ``names``."""
    call: FoundCall | None = failed.call
    if call is None or not is_refused(failed.error) or not _operations(call, names):
        return None
    frames = traceback.extract_tb(failed.error.__traceback__ if failed.error is not None else None)
    place = next((frame for frame in reversed(frames) if not frame.filename.startswith((OWN_FOLDER, "<"))), None)
    if place is None:
        return None
    shown = f"line {place.lineno}" if place.filename == file else f"{os.path.basename(place.filename)}:{place.lineno}"
    until = f", up to {shown} ({sentence_of(failed.error)})"
    return replace(call, inputs=f"{call.inputs}{until}", is_cut=True)


def _operations(call: FoundCall, names: dict[str, Any]) -> int:
    """How often the call computes with tensors before it ends; 0 where it does not end at a stub."""
    from torch.overrides import TorchFunctionMode

    class Counting(TorchFunctionMode):
        count = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            # what is only read of a tensor (`x.shape`) is none
            self.count += getattr(func, "__name__", "") != "__get__"
            return func(*args, **(kwargs or {}))

    counting = Counting()
    with unrecorded(), uncompiled():
        try:
            made = call.evaluate(names)
            with counting:
                made.run()
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            return counting.count if is_refused(error) else 0
    return 0
