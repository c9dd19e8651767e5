"""A Python file that is to be analysed: whether there is one, and its text."""

from __future__ import annotations

import tokenize
from pathlib import Path


class FileProblem(Exception):
    """The file cannot be analysed; its text is one sentence for the user."""


def check_source(path: Path) -> None:
    """Raise FileProblem if ``path`` is no Python file that could be run."""
    if not path.exists():
        raise FileProblem(f"There is no file {path}.")
    if path.is_dir():
        raise FileProblem(f"{path} is a directory; give a Python file.")
    if b"\0" in path.read_bytes()[:4096]:
        raise FileProblem(f"{path} is not a Python file: it holds binary data.")


def read_source(path: Path) -> str:
    """The text of ``path``, in the encoding that it declares. Raises FileProblem."""
    check_source(path)
    try:
        with tokenize.open(path) as opened:
            return opened.read()
    except (OSError, SyntaxError, UnicodeError) as error:
        raise FileProblem(f"{path} cannot be read as Python: {error}.") from None
