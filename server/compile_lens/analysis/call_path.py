"""Makes the call path to a place: from the user's top-level code, without torch's own frames."""

from __future__ import annotations

from compile_lens.analysis.finding import CallSite
from compile_lens.analysis.sources import MACHINERY, Sources
from compile_lens.trace.report import StackFrame

MOST = 24


def call_path(stack: tuple[StackFrame, ...], sources: Sources) -> tuple[CallSite, ...]:
    """The levels of ``stack`` worth showing, outermost first: from the user's first, not from what calls a test or a doctest."""
    kept = [
        frame
        for frame in stack
        if sources.is_own(frame.file) or not (MACHINERY.search(frame.file) or sources.is_runner(frame.file))
    ]
    first = next((index for index, frame in enumerate(kept) if sources.is_own(frame.file)), 0)
    kept = kept[first:]
    distinct = [frame for index, frame in enumerate(kept) if index == 0 or _spot(frame) != _spot(kept[index - 1])]
    return tuple(CallSite(sources.place_of(frame), frame.name, frame.text) for frame in distinct[-MOST:])


def _spot(frame: StackFrame) -> tuple[str, int, str]:
    return frame.file, frame.line, frame.name
