"""Goes on where a program waits for a person: a debugger continues, and a prompt whose answer hardly counts gets an empty line.

Nobody can type in a background run. Without a terminal, Python ends a program with ``BdbQuit`` or ``EOFError`` there, far from what the
program is about. Each such line is noted.
"""

from __future__ import annotations

import ast
import functools
import linecache
import pdb
import sys
from collections import Counter
from types import FrameType
from typing import Any

from ..instrument.in_place import call_first
from ..runtime.foreign_code import attempted
from ..runtime.parsed_source import parsed_file
from .notes import StandInNotes

DEBUGGER, PROMPT = "debugger", "prompt"
# answers at one line: a program that asks until it gets another one ends as without them
MOST_ANSWERS = 3
# a debugger stops at the call itself (3.13), or at what comes after it
STOPS_AT_CALL = sys.version_info >= (3, 13)


def go_on(notes: StandInNotes) -> None:
    """Have debuggers continue and prompts answered from now on, in this process."""

    def at_end_of_input(debugger: Any, *_: object) -> tuple[int]:
        """What a debugger does that finds no more commands: as if `continue` had been typed, where Python's own would quit."""
        frame = getattr(debugger, "curframe", None)
        if isinstance(frame, FrameType):
            notes.write(DEBUGGER, "", _at_call(notes.stack(frame), frame))
        debugger.set_continue()
        return (1,)  # the end of the commands

    # Python's debugger, and those that are made of it
    call_first(pdb.Pdb.do_EOF, at_end_of_input)
    if sys.stdin is not None:
        attempted(lambda: setattr(sys.stdin, "readline", _Answering(sys.stdin.readline, notes).readline))


class _Answering:
    """Reads lines as ``read`` does, which `input` calls."""

    def __init__(self, read: Any, notes: StandInNotes) -> None:
        self._read = read
        self._notes = notes
        self._answered: Counter[tuple[str, int]] = Counter()

    def readline(self, *limits: int) -> str:
        """A line; an empty one where none is left and the program does nothing more with it than look at it."""
        line = str(self._read(*limits))
        frame = sys._getframe(1)
        place = frame.f_code.co_filename, frame.f_lineno
        if line or limits or self._answered[place] >= MOST_ANSWERS:
            return line
        stack = self._notes.stack(frame)
        is_own = bool(stack) and stack[-1]["file"] == place[0]
        if not is_own or not any(first <= place[1] <= last for first, last in _prompts(place[0])):
            return line
        self._answered[place] += 1
        self._notes.write(PROMPT, "", stack)
        return "\n"


@functools.lru_cache(maxsize=16)
def _prompts(path: str) -> tuple[tuple[int, int], ...]:
    """The lines of the calls of `input` in a file whose result is dropped or only looked at: what is computed of it would be made up."""
    tree = parsed_file(path)
    found: list[tuple[int, int]] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Expr):
            looked_at = node.value
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            looked_at = node.test
        else:
            continue
        found += [(call.lineno, call.end_lineno or call.lineno) for call in _calls_looked_at(looked_at)]
    return tuple(found)


def _calls_looked_at(node: ast.expr) -> list[ast.Call]:
    """Calls of `input` in a test: alone, compared, or asked for a part of it by a method (`input().lower() == "y"`)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return [node] if node.func.id == "input" else []
    inside: list[ast.expr] = []
    if isinstance(node, ast.Call):
        inside = [node.func]
    elif isinstance(node, ast.Attribute):
        inside = [node.value]
    elif isinstance(node, ast.Compare):
        inside = [node.left, *node.comparators]
    elif isinstance(node, ast.BoolOp):
        inside = node.values
    elif isinstance(node, ast.UnaryOp):
        inside = [node.operand]
    return [call for each in inside for call in _calls_looked_at(each)]


def _at_call(stack: list[dict[str, Any]], frame: FrameType) -> list[dict[str, Any]]:
    """``stack``, which ends where a debugger stopped in ``frame``, with its end at the call that started the debugger."""
    if not stack or stack[-1]["file"] != frame.f_code.co_filename:
        return stack
    line = int(stack[-1]["line"])
    is_at_call = STOPS_AT_CALL or "__return__" in frame.f_locals
    call = _last_call(frame.f_code.co_filename, line if is_at_call else line - 1)
    if call is None or call.lineno < frame.f_code.co_firstlineno:
        return stack
    text = linecache.getline(frame.f_code.co_filename, call.lineno).strip()
    return [*stack[:-1], {**stack[-1], "line": call.lineno, "text": text, "column": call.col_offset + 1, **_end(call)}]


def _end(call: ast.Call) -> dict[str, int]:
    return {"end_line": call.end_lineno or call.lineno, "end_column": (call.end_col_offset or 0) + 1}


def _last_call(path: str, line: int) -> ast.Call | None:
    """The last call up to ``line`` whose result is dropped."""
    tree = parsed_file(path)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)] if tree is not None else []
    calls = [node.value for node in nodes if isinstance(node.value, ast.Call) and (node.end_lineno or 0) <= line]
    return max(calls, key=lambda call: call.lineno, default=None)
