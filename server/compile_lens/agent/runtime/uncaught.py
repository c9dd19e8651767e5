"""Shows an exception that nothing caught as Python does: by the program's own hook, without frames of ours."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from types import TracebackType

from ..instrument.in_place import is_surrounding

# frames of the import system that stand between ours and the user's file
IMPORT_SYSTEM = ("<frozen importlib", import_module.__code__.co_filename)


def drop_own_frames(error: BaseException, own_folder: str) -> None:
    """Leave frames of ours, and of the import system where we called it, out of the traceback of ``error`` and of those it came from."""
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _without_own_frames(each.__traceback__, own_folder)
        pending += (each.__cause__, each.__context__, *getattr(each, "exceptions", ()))


def _without_own_frames(entry: TracebackType | None, own_folder: str) -> TracebackType | None:
    kept = []
    below_ours = False
    while entry is not None:
        code = entry.tb_frame.f_code
        is_ours = code.co_filename.startswith(own_folder) or is_surrounding(code)
        below_ours = is_ours or (below_ours and code.co_filename.startswith(IMPORT_SYSTEM))
        if not below_ours:
            kept.append(entry)
        entry = entry.tb_next
    rest: TracebackType | None = None
    for each in reversed(kept):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


def show(error: BaseException, unsaved: str) -> None:
    """Call ``sys.excepthook``. ``unsaved`` is the file whose text on disk is not what runs, or ''."""
    if sys.excepthook is sys.__excepthook__:
        _print(error, unsaved)
        return
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as failure:  # a hook of the program's may raise anything; said as Python says it
        if failure.__context__ is error:  # because it is being handled here
            failure.__context__ = None
        failure.__traceback__ = failure.__traceback__ and failure.__traceback__.tb_next
        print("Error in sys.excepthook:", file=sys.stderr)
        _print(failure, unsaved)
        print("\nOriginal exception was:", file=sys.stderr)
        _print(error, unsaved)


def _print(error: BaseException, unsaved: str) -> None:
    """Print ``error``: by Python's own hook, but that reads lines from the disk."""
    if unsaved and any(frame.f_code.co_filename == unsaved for frame, _ in traceback.walk_tb(error.__traceback__)):
        traceback.print_exception(error)
    else:
        sys.__excepthook__(type(error), error, error.__traceback__)
