"""Keeps the last bisection of each repro beside the caches, for ``rebisect`` to compare with."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.repro.verdict import Bisection, from_json
from compile_lens.state.atomic_file import write_atomically
from compile_lens.workers.caches import cache_root

FOLDER = "verdicts"


def history_file(repro: Path) -> Path:
    """The file of the last result of ``repro``, named by its path because its text may change in between."""
    key = hashlib.sha256(os.fsencode(repro.absolute())).hexdigest()[:16]
    return cache_root(os.environ) / FOLDER / f"{repro.stem}-{key}.json"


def remember(found: Bisection) -> None:
    """Keep ``found`` as the last result of its repro. A full disk is not an error."""
    file = history_file(Path(found.repro))
    with contextlib.suppress(OSError):
        write_atomically(file, found.to_json())


def recall(repro: Path) -> Bisection | None:
    """The last result of ``repro``, or None if there is none that can be read."""
    try:
        return from_json(read_regular_text(history_file(repro)))
    except (OSError, ValueError):
        return None
