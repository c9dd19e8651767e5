"""Parses the text of a program or a library, in a process that has more to do than that."""

from __future__ import annotations

import ast
import linecache
import warnings

# characters: a tree takes up to a thousand times as many bytes
LONGEST = 1_000_000
# the same, outside of a run's budget
LONGEST_OUTSIDE = 300_000


def parsed(text: str, longest: int = LONGEST) -> ast.Module | None:
    """The tree of ``text``. None for what Python cannot read, which running it reports, and for what is too long or nested too deep."""
    if len(text) > longest:
        return None
    try:
        with warnings.catch_warnings():
            # whoever runs the text is warned
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parsed_file(file: str) -> ast.Module | None:
    """The same of a file, with its text as it was when it was run."""
    return parsed("".join(linecache.getlines(file)))
