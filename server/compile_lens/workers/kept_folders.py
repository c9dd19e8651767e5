"""Which of the paths that a user named a run may change for good: none that a program or a workspace has made a link of meanwhile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from compile_lens.workers.followed_links import links_on


def kept_folders(allowed: Sequence[str], workspace: str) -> tuple[str, ...]:
    """The paths ``allowed`` without links, the outermost alone.

    A link counts only where neither the workspace nor a run of it can have put it: what is below another one of the paths, or below
    ``workspace``, may have become a link since the user said yes, and would lead anywhere.
    """
    left_out = set(links_among(allowed, workspace))
    real = dict.fromkeys(os.path.realpath(_full(path)) for path in allowed if path not in left_out)
    return tuple(path for path in real if not any(path != other and Path(path).is_relative_to(other) for other in real))


def links_among(allowed: Sequence[str], workspace: str) -> tuple[str, ...]:
    """Those of ``allowed`` that lead through a link which a workspace or a run may have made."""
    left_out: list[str] = []
    while True:
        others = [path for path in allowed if path not in left_out]
        theirs = [os.path.realpath(_full(path)) for path in (*others, *([workspace] if workspace else ()))]
        # whatever it leads to would be among ``theirs``: so one at a time, until all links are the user's own
        found = next((path for path in others if _is_led(path, theirs)), None)
        if found is None:
            return tuple(left_out)
        left_out.append(found)


def _is_led(path: str, folders: Sequence[str]) -> bool:
    return any(link.parent.is_relative_to(folder) for link in links_on(_full(path)) for folder in folders)


def _full(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - links are looked at one by one
