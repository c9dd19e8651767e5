"""Reads the source of a Python file, or says in one sentence why that is not possible."""

from __future__ import annotations

import errno
import io
import os
import tokenize
from pathlib import Path

from compile_lens.agent.runtime.regular_file import LARGEST_BYTES as LARGEST_BYTES
from compile_lens.agent.runtime.regular_file import FileTooLargeError, read_regular

SOURCES = frozenset({".py", ".pyi", ".pyw", ".pyx", ".ipynb"})


class FileProblem(Exception):
    """The file cannot be analyzed; its text is one sentence for the user."""


def too_large(name: str) -> str:
    """The sentence about a text that is not analyzed."""
    return f"{name} is not analyzed: it is larger than {LARGEST_BYTES // 1_000_000} MB."


def check_source(path: Path) -> None:
    """Raise FileProblem if ``path`` is no Python file that could be run."""
    _read(path)


def read_source(path: Path, keep_line_ends: bool = False) -> str:
    """The text of ``path``, in the encoding that it declares (PEP 263), without a byte order mark. Raises FileProblem.

    Every line ends with a newline, as Python reads it, unless ``keep_line_ends``.
    """
    data = _read(path)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding, newline="" if keep_line_ends else None).read()
    except (SyntaxError, ValueError, LookupError) as error:
        raise FileProblem(f"{path} cannot be read as Python: {error}.") from None


def read_utf8(path: Path) -> str:
    """The text of a file whose changed copies are written in UTF-8. Raises FileProblem for one in another encoding, too."""
    data = _read(path)
    try:
        return io.TextIOWrapper(io.BytesIO(data), "utf-8").read()
    except UnicodeDecodeError:
        raise FileProblem(f"{path} is not encoded in UTF-8. Save it as UTF-8.") from None


def source_if_readable(path: str, keep_line_ends: bool = False) -> str | None:
    """The text of a file that need not be there, or be Python; None then."""
    try:
        return read_source(Path(path), keep_line_ends)
    except FileProblem:
        return None


def source_if_named(path: str) -> str | None:
    """The text of a file that a trace, a report or a program names, if it has the name of a source.

    They may name any file of this machine, and what is shown of it may be sent to somebody.
    """
    return source_if_readable(path) if has_name_of_source(path) else None


def has_name_of_source(path: str) -> bool:
    """Whether a file is named like Python source or a notebook, and so is what it leads to, if it is a link: a repository has links to
    anywhere."""
    try:
        return is_name_of_source(path) and is_name_of_source(os.path.realpath(path))
    except ValueError:  # a name that no file can have
        return False


def is_name_of_source(path: str) -> bool:
    """Whether that is how Python source or a notebook is named; the file is not looked at."""
    return os.path.splitext(path)[1].lower() in SOURCES  # noqa: PTH122 - text of a program


def _read(path: Path) -> bytes:
    try:
        data = read_regular(path)
    except FileNotFoundError:
        raise FileProblem(f"{path}: no such file.") from None
    except IsADirectoryError:
        raise FileProblem(f"{path} is a directory. Give a Python file.") from None
    except FileTooLargeError:
        raise FileProblem(too_large(str(path))) from None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EINVAL:
            raise FileProblem(f"{path} is not a regular file. Give a Python file.") from None
        raise FileProblem(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if b"\0" in data[:4096]:
        raise FileProblem(f"{path} is not a Python file: it contains binary data.")
    return data
