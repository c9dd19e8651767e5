"""Leaves out what a script cannot reach: the bodies of functions that nothing names.

A program can reach a function in other ways than by writing its name. Where a text has a word for one of them, nothing is left out.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable

from compile_lens.agent.runtime.long_fstrings import has_long_fstring

# a program with these may call a function by a name that it puts together, reads from a file, or leaves to a library
BY_OTHER_NAMES = re.compile(
    r"globals|locals|vars\b|\beval\b|\bexec\b|modules|__main__|__dict__|__code__|_getframe|\bdir\b|import_module|__import__|runpy"
    r"|pickle|dill|load|pytest|unittest|nose|\b[Ff]ire\b|settrace|setprofile|monitoring|import \*"
)
GUARD = re.compile(r"""^if __name__ == (["'])__main__\1:""", re.MULTILINE)
# what is found by reading the text, whether or not it is called
READ_IN_TEXT = "compile"
# first and last line of a function's body, and its column
Body = tuple[int, int, int]


def without_unreached(before: str, now: str, elsewhere: Iterable[str]) -> tuple[str, str] | None:
    """Both texts of a script, without the bodies of functions that neither they nor the texts ``elsewhere`` name. None where there are
    none in both, or where that cannot be told."""
    if any(BY_OTHER_NAMES.search(GUARD.sub("", text)) or "\r" in text or "\f" in text for text in (before, now)):
        return None
    others = list(elsewhere)
    if any(BY_OTHER_NAMES.search(GUARD.sub("", text)) for text in others):
        return None
    bodies_before, bodies_now = _unnamed(before, others), _unnamed(now, others)
    if not bodies_before or not bodies_now or bodies_before.keys() != bodies_now.keys():
        return None
    return _cut(before, bodies_before.values()), _cut(now, bodies_now.values())


def _unnamed(text: str, elsewhere: list[str]) -> dict[str, Body] | None:
    """The bodies of such functions, by their names; None for what this Python cannot compile, or not in time."""
    if has_long_fstring(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compile(tree, "script", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines, uses = text.split("\n"), _words(text)
    named_elsewhere = {word for other in elsewhere for word in _words(other)}
    found: dict[str, Body] = {}
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.decorator_list:
            continue
        if node.name.startswith("__") or node.name in named_elsewhere:
            continue
        first, last = node.body[0], node.end_lineno or node.lineno
        is_alone = first.lineno > node.lineno and not lines[first.lineno - 1][: first.col_offset].strip()
        body = "\n".join(lines[first.lineno - 1 : last])
        if is_alone and uses[node.name] == 1 and READ_IN_TEXT not in body:
            found[node.name] = first.lineno, last, first.col_offset
    return found


def _words(text: str) -> Counter[str]:
    """How often each word is in a text, names among them."""
    return Counter(re.findall(r"\w+", text))


def _cut(text: str, bodies: Iterable[Body]) -> str:
    lines = text.split("\n")
    for first, last, column in sorted(bodies, reverse=True):
        lines[first - 1 : last] = [" " * column + "pass"]
    return "\n".join(lines)
