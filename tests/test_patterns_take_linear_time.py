"""No text that a program or a trace chooses keeps the server busy: patterns that search it look at each place a bounded number of times."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time

import pytest

import compile_lens
from compile_lens.trace.guard_text import parse_guard

# rooms whose texts come from programs, traces and documents
ROOMS = (
    "analysis",
    "assistants",
    "diff",
    "formats",
    "lsp",
    "mcp",
    "pipeline",
    "repro",
    "stages",
    "syntax",
    "trace",
    "workers",
    "fixes",
)
LENGTH = 12_000
# a pattern that looks at all that follows, at each place, takes a hundred times as long
LIMIT_S = 0.25
# applied where a text begins, never searched for in it
AT_THE_BEGINNING = {
    "NAMED", "_LONG_NUMBER", "_CELL_MAGIC", "_PYTHON_LINE", "_LINE", "_ASSIGNED", "_SHAPED_TENSOR", "ARGUMENT",
    "VERSION", "_TABLE_READ",
}  # fmt: skip
PUMPED = (
    "a", "0", "_", " ", "\n", " \n", "(", "[", "a.", "a, ", "a=(", "a=", "a: ", "L['", "a\n", "  # a", "File ", "(HINT: ",
    "A", " # a File: a:0 in", "tensor 'a' ", "${a:a\n", "def a()\n", "[a\n", "from a import (", "from a import (\n",
)  # fmt: skip


def patterns() -> dict[tuple[str, str], re.Pattern[str]]:
    """Those of modules, by module and name."""
    found: dict[tuple[str, str], re.Pattern[str]] = {}
    for room in ROOMS:
        for module in pkgutil.walk_packages([f"{compile_lens.__path__[0]}/{room}"], f"compile_lens.{room}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                # compiled when the module is imported, or later
                is_pattern = type(value).__name__ in ("Pattern", "pattern") and isinstance(value.pattern, str)
                if is_pattern and name not in AT_THE_BEGINNING:
                    found[module.name, name] = value
    return found


def takes_long(pattern: re.Pattern[str], text: str) -> bool:
    """Whether it does each of three times: the machine may be busy."""
    for _ in range(3):
        started = time.thread_time()
        pattern.search(text)
        if time.thread_time() - started < LIMIT_S:
            return False
    return True


@pytest.mark.slow
def test_a_search_does_not_begin_anew_at_each_place() -> None:
    slow = []
    for where, pattern in patterns().items():
        words = re.match(r"(?:\^|\\b)?((?:[A-Za-z0-9 _'\"`:,=-]|\\[.()\[\]|{}$])*)", pattern.pattern)
        start = words[1].replace("\\", "") if words is not None else ""
        for pumped in (*PUMPED, *([start] if start else ())):
            text = pumped * (LENGTH // len(pumped)) + "\0"
            if takes_long(pattern, text) or (start and takes_long(pattern, start + text)):
                slow.append((*where, pumped))
    assert not slow


def test_a_line_of_the_user_with_many_comments_is_read_at_once() -> None:
    line = "x == 1  # return x" + "  # a" * 20_000
    started = time.thread_time()
    guard = parse_guard(line + "  # dir/a.py:10 in f")
    assert time.thread_time() - started < 2.0
    assert (guard.guard, guard.file_tail, guard.line) == ("x == 1", "dir/a.py", 10)
    assert parse_guard(line).guard
