"""The links that a path leads through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# as the kernel follows them (path_resolution(7))
MOST_LINKS = 40


def links_on(path: str) -> Iterator[Path]:
    """The links that are followed on the way to the absolute ``path``, each in its folder without links."""
    current, *waiting = Path(path).parts
    for _ in range(MOST_LINKS):
        while waiting:
            following = Path(current, waiting.pop(0))
            if following.is_symlink():
                break
            current = os.path.normpath(following)
        else:
            return
        yield following
        current, *others = Path(current, following.readlink()).parts
        waiting[:0] = others
    if waiting:
        yield Path(current, waiting[0])
