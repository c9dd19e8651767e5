"""Reads why TorchScript failed: its message begins with a sentence that is always the same, and ends with the reason.

The form is that of ``handleError`` (torch/csrc/jit/runtime/interpreter.cpp, torch 2.6 to 2.13): a heading, a traceback of its own, and
the name and the message of the error. It is the same in Python's words where the scripted code raises: `builtins.ValueError: …`.
"""

from __future__ import annotations

import re

_HEADING = "The following operation failed in the TorchScript interpreter."
_HERE = "<--- HERE"
# texts: patterns that a command does not use are not compiled when it starts
_ERROR = r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception): "
# an exception of the program's own, which may have any name
_OTHER = r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*: "
_MARK = r"(?m)^( *)~+ <--- HERE"


def reason_of(message: str) -> str:
    """What an error says: of one of TorchScript's, the reason at its end, without the type; ``message`` itself of all others."""
    if not message.startswith(_HEADING):
        return message
    lines = message.rpartition(_HERE)[2].splitlines()
    # below the mark there may be more of the source that failed
    certain = [number for number, line in enumerate(lines) if re.match(_ERROR, line)]
    others = [number for number, line in enumerate(lines) if re.match(_OTHER, line)]
    first = (certain or others[-1:])[:1]
    text = "\n".join(lines[first[0] :]).strip() if first else ""
    return re.sub(rf"\A{_OTHER}", "", text, count=1) or message


def failing_texts(message: str) -> list[str]:
    """The pieces of source that an error of TorchScript's marks, the innermost first; none of other errors."""
    if not message.startswith(_HEADING):
        return []
    found: list[str] = []
    for mark in re.finditer(_MARK, message):
        line = message[: mark.start()].rstrip("\n").rpartition("\n")[2]
        found.append(line[len(mark[1]) :].strip())
    return list(filter(None, reversed(found)))
