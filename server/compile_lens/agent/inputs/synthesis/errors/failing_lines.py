"""The source lines that raised an error, and the names in them."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import re
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed
from ....runtime.torchscript_errors import failing_texts

_MOST_LINES = 12
MOST_KEYS = 8
_NAMED = (ast.Attribute, ast.Name, ast.Load)


def failing_line(error: BaseException) -> str:
    """The source that raised, of the innermost frame that has one."""
    return next(failing_lines(error), "")


def failing_lines(error: BaseException) -> Iterator[str]:
    """The source of what the frames were doing, of the innermost one first."""
    lines = map(source_of, reversed(traceback.extract_tb(error.__traceback__)[-12:]))
    # TorchScript has frames of its own, which it tells in its message
    return filter(None, itertools.chain(failing_texts(str(error)), lines))


def innermost(error: BaseException) -> tuple[FrameType | None, int]:
    """The frame that raised, and its line."""
    entry: TracebackType | None = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return (None, 0) if entry is None else (entry.tb_frame, entry.tb_lineno)


def failing_place(error: BaseException) -> tuple[str, int]:
    """The file and the line of the innermost frame."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def source_of(frame: traceback.FrameSummary) -> str:
    """The source of what ``frame`` was doing, in one line: a call may stand in several (Python 3.11 tells where it ends)."""
    last = getattr(frame, "end_lineno", None) or frame.lineno or 0
    following = range((frame.lineno or 0) + 1, min(last, (frame.lineno or 0) + _MOST_LINES) + 1)
    more = (linecache.getline(frame.filename, number).strip() for number in following)
    return " ".join(filter(None, (frame.line, *more)))


def names_in_failing_lines(error: BaseException) -> list[str]:
    """The names in the source lines that raised, innermost first: one of them may be the parameter that is None.

    What is kept as `self._width` most often comes from a parameter `width`.
    """
    found = [name for text in failing_texts(str(error)) for name in re.findall(r"[A-Za-z_]\w*", text)]
    for frame in reversed(traceback.extract_tb(error.__traceback__)[-12:]):
        if "_compile_lens" not in frame.filename:
            for name in re.findall(r"[A-Za-z_]\w*", source_of(frame)):
                found += dict.fromkeys((name, name.strip("_") or name))
    return list(dict.fromkeys(found))[:40]


def keys_in_failing_line(error: BaseException, written: re.Pattern[str]) -> list[str]:
    """The texts that the innermost line looks something up by: those that ``written`` finds, and constants, as in `table[START]`."""
    line = failing_line(error)
    found = [next(filter(None, groups), "") for groups in written.findall(line)]
    frame, _ = innermost(error)
    names = frame.f_globals if frame is not None else {}
    constants = (names.get(name) for name in re.findall(r"\[\s*([A-Za-z_]\w*)\s*\]", line))
    return [*filter(None, found), *(each for each in constants if isinstance(each, str))]


def keys_looked_up_in(error: BaseException) -> list[Any]:
    """The keys of the dictionary that the innermost line looks something up in: of `self._modules` in `return self._modules[key]`."""
    frame, _ = innermost(error)
    tree = parsed(failing_line(error))
    for node in ast.walk(tree) if tree is not None and frame is not None else ():
        if isinstance(node, ast.Subscript) and all(isinstance(each, _NAMED) for each in ast.walk(node.value)):
            text, names = ast.unparse(node.value), {**frame.f_globals, **frame.f_locals} if frame is not None else {}
            found = attempted(functools.partial(eval, text, names))
            if type(found) is dict and found:
                return list(found)[:MOST_KEYS]
    return []


def names_of_none(error: BaseException, called: str) -> frozenset[str]:
    """The variables that are None in the functions which failed, of those that call ``called``."""
    found: set[str] = set()
    entry: TracebackType | None = error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if called in frame.f_code.co_names:
            found.update(name for name, value in frame.f_locals.items() if value is None)
        entry = entry.tb_next
    return frozenset(found)
