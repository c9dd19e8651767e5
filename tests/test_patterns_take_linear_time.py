"""No text that a program or a trace chooses keeps the server busy: patterns that search it look at each place a bounded number of times."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable

import pytest

import compile_lens
from compile_lens.trace.guard_text import parse_guard
from growth import grows_with_length

# rooms whose texts come from programs, traces and documents
ROOMS = (
    "analysis",
    "assistants",
    "documents",
    "entries",
    "knowledge",
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
# a pattern that looks at all that follows, at each place, takes a quarter of a second and more
LENGTH = 12_000
# applied where a text begins, never searched for in it
AT_THE_BEGINNING = {
    "NAMED", "_LONG_NUMBER", "_CELL_MAGIC", "_PYTHON_LINE", "_LINE", "_ASSIGNED", "_SHAPED_TENSOR", "ARGUMENT",
    "VERSION", "_TABLE_READ", "_ASIDE", "_CLASS", "_FIRST", "_FRAMEWORK", "_LIKE_A_MODULE",
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


def takes_long(pattern: re.Pattern[str], start: str, pumped: str) -> bool:
    def prepared(length: int) -> Callable[[], object]:
        text = start + pumped * (length // len(pumped)) + "\0"
        return lambda: pattern.search(text)

    return not grows_with_length(prepared, LENGTH)


@pytest.mark.slow
def test_a_search_does_not_begin_anew_at_each_place() -> None:
    slow = []
    for where, pattern in patterns().items():
        words = re.match(r"(?:\^|\\b)?((?:[A-Za-z0-9 _'\"`:,=-]|\\[.()\[\]|{}$])*)", pattern.pattern)
        start = words[1].replace("\\", "") if words is not None else ""
        slow += [
            (*where, pumped)
            for pumped in (*PUMPED, *([start] if start else ()))
            if takes_long(pattern, "", pumped) or (start and takes_long(pattern, start, pumped))
        ]
    assert not slow


def test_a_line_of_the_user_with_many_comments_is_read_at_once() -> None:
    def prepared(length: int) -> Callable[[], object]:
        text = f"x == 1  # return x{'  # a' * (length // 5)}  # dir/a.py:10 in f"
        return lambda: parse_guard(text)

    assert grows_with_length(prepared, 100_000)
    line = "x == 1  # return x" + "  # a" * 20_000
    guard = parse_guard(line + "  # dir/a.py:10 in f")
    assert (guard.guard, guard.file_tail, guard.line) == ("x == 1", "dir/a.py", 10)
    assert parse_guard(line).guard
