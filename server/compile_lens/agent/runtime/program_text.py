"""The text of a program: read as Python reads it, and kept where torch, tracebacks and inspect look for its lines."""

from __future__ import annotations

import io
import linecache
import tokenize


def remember(file: str, source: str) -> None:
    """Let torch, tracebacks and inspect take the lines of ``file`` from here: without a time stamp it is never checked against the disk.

    They are as Python reads them: it knows three ends of lines, and a line feed stands for each.
    """
    linecache.cache[file] = (len(source), None, io.StringIO(source, newline=None).readlines(), file)


def read(file: str) -> str:
    """The text of ``file``, in the encoding that it declares."""
    with open(file, "rb") as raw:
        data = raw.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding, newline="").read()
