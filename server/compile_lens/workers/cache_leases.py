"""Records who uses the private caches, and deletes what a killed run may have left half written there.

A compiler that is killed leaves a library of no or half its bytes under its final name (seen with g++ and torch 2.13), and torch
takes what is there for whole: the next run would fail, or quietly use another instruction set. So each run holds a *lease*: a
small file that is locked as long as the run's host lives. A lease that ends in order vanishes. One that does not, because the
run was killed or everything was, leads to a sweep: what compilers wrote since it began is deleted, and made again when needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import stat
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from filelock import FileLock, Timeout

from compile_lens.agent.runtime.left_folders import delete_below, remove_folder
from compile_lens.agent.runtime.regular_file import is_file
from compile_lens.workers.caches import PARTS

log = logging.getLogger(__name__)

FOLDER = "leases"
# the files that compilers write under their final names, and those that torch renames when they are whole
COMPILED = frozenset(
    {".so", ".o", ".a", ".gch", ".pch", ".dll", ".lib", ".exp", ".obj", ".pyd", ".dylib", ".cubin", ".tmp"}
)
# clocks of file systems are coarser than ours
EARLIER_S = 2.0
WAIT_S = 5.0


class Lease:
    """One run's use of the caches below ``root``. Where nothing can be written there is no lease, and no harm: see ``held``."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._since = time.time()
        self._file = root / FOLDER / f"{int(self._since)}-{uuid.uuid4().hex}.lease"
        self._lock = FileLock(self._file, timeout=0, thread_local=False)
        self.held = False
        # whether no compiler was killed; what one may have been writing is deleted otherwise
        self.in_order = False

    def take(self) -> None:
        """Hold the caches, after what earlier runs left in the midst of writing is gone. Waits a moment while they are cleaned up."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with gate(self._root):
                abandoned = _abandoned(self._root)
                self._lock.acquire()
            self.held = True
        except (OSError, Timeout) as error:
            log.info("The caches in %s are used without a lease: %s", self._root, error)
            return
        for file, since in abandoned:
            sweep(self._root, since)
            with contextlib.suppress(OSError):  # it stays, and is swept after once more
                file.unlink(missing_ok=True)

    def release(self) -> None:
        """The run is over."""
        if not self.held:
            return
        if not self.in_order:
            sweep(self._root, self._since)
        self.held = False
        self._lock.release(force=True)
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def leased(root: Path) -> AsyncIterator[Lease]:
    """A lease while the block runs. The disk is waited for in a thread; being canceled at any point leaves no lease behind."""
    lease = Lease(root)
    taken = asyncio.ensure_future(asyncio.to_thread(lease.take))

    async def give_back() -> None:
        await taken
        await asyncio.to_thread(lease.release)

    try:
        await asyncio.shield(taken)
        yield lease
    finally:
        await asyncio.shield(asyncio.ensure_future(give_back()))


def gate(root: Path) -> FileLock:
    """The lock under which leases begin, and under which things are taken out of the caches."""
    root.mkdir(parents=True, exist_ok=True)
    return FileLock(root / "gate.lock", timeout=WAIT_S)


def in_use(root: Path) -> bool:
    """Whether a run of any process holds a lease."""
    return any(is_file(file) and not _is_free(file) for file in (root / FOLDER).glob("*.lease"))


def sweep(root: Path, since: float) -> int:
    """Delete what compilers wrote below ``root`` from ``since`` (seconds of the epoch) on; how many files."""

    def is_unwanted(name: str, status: os.stat_result) -> bool:
        is_recent = status.st_mtime >= since - EARLIER_S
        return os.path.splitext(name)[1] in COMPILED and is_recent and stat.S_ISREG(status.st_mode)  # noqa: PTH122

    count = 0
    for folder in (owner for part in PARTS for owner in (root / part).glob("*") if owner.is_dir()):
        try:
            count += delete_below(str(folder), is_unwanted)
        except RecursionError:
            remove_folder(str(folder))  # no compiler has made that
    if count:
        log.info("%d files of compilers that were interrupted are gone from %s", count, root)
    return count


def _abandoned(root: Path) -> list[tuple[Path, float]]:
    """Leases whose holders are dead, and when each began. Called behind the gate, so that nobody takes one meanwhile."""
    found = []
    for file in (root / FOLDER).glob("*.lease"):
        began, _, _ = file.name.partition("-")
        # nobody who runs has made anything else
        if is_file(file) and _is_free(file):
            found.append((file, float(began) if began.isdecimal() else 0.0))
    return found


def _is_free(file: Path) -> bool:
    try:
        with FileLock(file, timeout=0):
            return True
    except Timeout:
        return False
    except OSError:
        return True
