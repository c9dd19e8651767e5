"""Whether an error asks for a call of another method first: `assert self.cache is not None, "call setup_caches first"`."""

from __future__ import annotations

import dis
import re
from types import TracebackType

_ASKED_FIRST = re.compile(r"\b(?:call|run|use|invoke|first|before|must|need(?:s|ed)?|forgot|did you)\b", re.I)
_WORD = re.compile(r"\b[A-Za-z]\w{3,}\b")
_RAISED = (AssertionError, RuntimeError, ValueError)


def asks_for_method(error: BaseException) -> bool:
    """Whether ``error`` names a method of an object that was at work, which is not one of torch's and was not at work itself: no other
    arguments help before it has been called."""
    text = str(error)
    if type(error) not in _RAISED or _ASKED_FIRST.search(text) is None:
        return False
    words, entry = set(_WORD.findall(text)), error.__traceback__
    running: set[str] = set()
    named: set[str] = set()
    last = entry
    while entry is not None:
        running.add(entry.tb_frame.f_code.co_name)
        owner = entry.tb_frame.f_locals.get("self")
        for base in type(owner).__mro__ if owner is not None else ():
            if base.__module__.partition(".")[0] not in ("torch", "builtins"):
                named.update(
                    word for word in words & vars(base).keys() if type(vars(base)[word]).__name__ == "function"
                )
        last, entry = entry, entry.tb_next
    return bool(named - running) and last is not None and _is_raised_in_python(last)


def _is_raised_in_python(entry: TracebackType) -> bool:
    """Whether a statement raised it: what torch's kernels say of sizes names no method (`The size of tensor a (6) must match …`)."""
    code = entry.tb_frame.f_code.co_code
    return entry.tb_lasti < len(code) and dis.opname[code[entry.tb_lasti]] == "RAISE_VARARGS"
