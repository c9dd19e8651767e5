"""Writes files atomically: readers see the old content or the new one, never a part."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path``, whose folder is made if it is not there. Raises OSError, and leaves nothing behind then."""
    # imported late: whoever only reads starts faster without it
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).replace(path)
    except BaseException:  # raised again, an interrupt too
        Path(name).unlink(missing_ok=True)
        raise
