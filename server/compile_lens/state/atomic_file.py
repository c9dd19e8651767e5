"""Writes files atomically: readers see the old content or the new one, never a part."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path``, whose folder is made if it is not there. Raises OSError, and leaves nothing behind then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # as `tempfile` does it, which takes longer to import than this takes
    name = path.with_name(f".{path.name}.{os.urandom(8).hex()}.new")
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        name.replace(path)
    except BaseException:  # raised again, an interrupt too
        name.unlink(missing_ok=True)
        raise
