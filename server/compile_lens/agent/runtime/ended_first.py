"""Has the kernel end a run before other programs of the user, where memory runs out faster than anything is seen (Linux, proc(5)).

What the run's processes may write, as names of their threads where there are GPUs, includes how soon the kernel ends them: whoever has the
capability CAP_SYS_RESOURCE sets a least value for them at the begin, and for the others it is put back.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

FILE = "oom_score_adj"
# the most
FIRST = 1000
# looks, ten in a second, at which something had to be put back: no program lowers it so often but to have it low
MOST_LOOKS = 20


def go_first() -> None:
    """Let the kernel end this process, and all that it starts, first."""
    with contextlib.suppress(OSError):
        _write(os.getpid())


class EndedFirst:
    """Looks at the processes of one run."""

    def __init__(self) -> None:
        self._looks = 0

    def is_undone(self, tree: Iterable[int]) -> bool:
        """Put it back where a process of ``tree`` has lowered it; whether they do it again and again."""
        found = False
        for pid in tree:
            with contextlib.suppress(OSError, ValueError):
                if _read(pid) < FIRST:
                    _write(pid)
                    found = True
        self._looks += found
        return self._looks > MOST_LOOKS


def _read(pid: int) -> int:
    with open(f"/proc/{pid}/{FILE}", encoding="ascii") as file:
        return int(file.read())


def _write(pid: int) -> None:
    with open(f"/proc/{pid}/{FILE}", "w", encoding="ascii") as file:
        file.write(str(FIRST))
