"""Parses the text of a program or a library, in a process that has more to do than that."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import warnings
from typing import Any

from .foreign_code import attempted
from .long_fstrings import has_long_fstring

# characters: a tree takes up to a thousand times as many bytes
LONGEST = 1_000_000
# the same, outside of a run's budget
LONGEST_OUTSIDE = 300_000
# nodes in one another: whoever walks a tree may call itself for each level, or have it written as text
MOST_LEVELS = 150
TOO_DEEP = f"is nested more than {MOST_LEVELS} levels deep"


class UnreadableText(Exception):
    """No tree is made of the text; its message is the end of a sentence about it."""


def parsed(text: str, longest: int = LONGEST) -> ast.Module | None:
    """The tree of ``text``. None for what Python cannot read, which running it reports, and for what is too long or nested too deep."""
    try:
        tree = _tree(text, longest, "exec")
    except UnreadableText:
        return None
    return tree if isinstance(tree, ast.Module) else None


def parsed_expression(text: str) -> ast.expr:
    """The tree of a text that is one expression. Raises UnreadableText."""
    tree = _tree(text, LONGEST_OUTSIDE, "eval")
    assert isinstance(tree, ast.Expression)
    return tree.body


def parsed_file(file: str) -> ast.Module | None:
    """The same of a file, with its text as it was when it was run."""
    return parsed("".join(linecache.getlines(file)))


def source_of(subject: Any) -> str:
    """The text of a function, a class or code, with its first line at the margin; '' where it is not known."""
    return attempted(lambda: textwrap.dedent(inspect.getsource(inspect.unwrap(subject)))) or ""


def parsed_source_of(subject: Any) -> ast.Module | None:
    """The tree of that text; None where there is none, and as `parsed`."""
    source = source_of(subject)
    return parsed(source) if source else None


def _tree(text: str, longest: int, mode: str) -> ast.AST:
    if len(text) > longest:
        raise UnreadableText(f"has more than {longest:,} characters")
    if has_long_fstring(text):
        raise UnreadableText("has an f-string that is too long")
    try:
        with warnings.catch_warnings():
            # whoever runs the text is warned
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode=mode)
    except SyntaxError as error:
        raise UnreadableText(f"is not valid Python: {error.msg}") from None
    except ValueError as error:
        raise UnreadableText(f"is not valid Python: {error}") from None
    except (RecursionError, MemoryError):
        raise UnreadableText(TOO_DEEP) from None
    if not _is_shallow(tree):
        raise UnreadableText(TOO_DEEP)
    return tree


def _is_shallow(tree: ast.AST) -> bool:
    level = [tree]
    for _ in range(MOST_LEVELS):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False
