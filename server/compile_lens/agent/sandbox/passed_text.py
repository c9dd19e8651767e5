"""Reads text and paths as the system gets them from a call that Python audits, whatever their classes say of them."""

from __future__ import annotations

import os
import sys
from typing import Any

# as the interpreter encodes names of files, which a program cannot change
ENCODING, ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def passed_text(value: Any) -> str:
    """The text of ``value``: text, bytes, a path, or a buffer such as a ``bytearray``. Raises TypeError for anything else."""
    if isinstance(value, str):
        return str.__str__(value)  # the methods of a subclass of text may say otherwise
    if not isinstance(value, bytes) and not hasattr(type(value), "__fspath__"):
        value = bytes(memoryview(value))
    return bytes.decode(value, ENCODING, ERRORS) if isinstance(value, bytes) else passed_text(os.fspath(value))
