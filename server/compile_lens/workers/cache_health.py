"""Says whether the private caches can be used: what torch raises otherwise names neither the folder nor what to do."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compile_lens.agent.runtime.protocol import ProgramRaised
from compile_lens.workers.tracked_environment import is_brought
from compile_lens.workers.wire import Frame, TraceRecord

# one kernel with its sources takes about this much
PROBE_BYTES = 1 << 20
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_ROOM = tuple(os.strerror(number).encode() for number in FULL)
ELSEWHERE = "set COMPILE_LENS_CACHE_DIR to another folder."


@dataclass(frozen=True, slots=True)
class CacheProblem:
    """``says`` names the folder and what is wrong with it; ``remedy`` is a whole sentence."""

    says: str
    remedy: str
    is_full: bool = False
    # another folder will do as well
    is_read_only: bool = False

    def __str__(self) -> str:
        return f"The cache folder {self.says}. {self.remedy}"


class FailureSeen:
    """Passes frames of a run on, and notes those that say that it failed, or that something had no room."""

    def __init__(self, on_frame: Callable[[Frame], None]) -> None:
        self._on_frame = on_frame
        self.was_seen = False

    def take(self, frame: Frame) -> None:
        """Pass ``frame`` on."""
        of_trace = isinstance(frame, TraceRecord) and any(words in frame.data for words in NO_ROOM)
        self.was_seen = self.was_seen or of_trace or isinstance(frame, ProgramRaised)
        self._on_frame(frame)


def find_cache_problem(root: Path) -> CacheProblem | None:
    """What is wrong with the caches in ``root``, which need not exist; None if torch can write to them. Nothing is left behind."""
    if is_brought(root):  # they hold code, which is loaded outside of the sandbox, too
        remedy = f"Remove it from the repository, or {ELSEWHERE}"
        return CacheProblem(f"{root} is part of a repository", remedy, is_read_only=True)
    for folder in (root, root / "inductor", root / "triton"):
        # what exists is a file, a folder, or a link that leads nowhere
        existing = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if not existing.is_dir():
            what = "a file" if existing.exists() else "a broken link"
            return CacheProblem(f"{folder} cannot be created: {existing} is {what}", f"Remove it, or {ELSEWHERE}")
        try:
            with tempfile.TemporaryFile(dir=existing, prefix=".compile-lens-", buffering=0) as probe:
                if folder == root and probe.write(bytes(PROBE_BYTES)) < PROBE_BYTES:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            if error.errno in FULL:
                room = "Free disk space, for example with `compile-lens cache clear`"
                return CacheProblem(f"{folder} is full: {error.strerror}", f"{room}, or {ELSEWHERE}", is_full=True)
            return CacheProblem(
                f"{folder} cannot be written: {error.strerror}",
                f"Make it writable, or {ELSEWHERE}",
                is_read_only=error.errno in READ_ONLY,
            )
    return None
