"""Keeps the private caches below their size limit: the least recently used entries are deleted first."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import Timeout

from compile_lens.agent.runtime.left_folders import move_out, open_closed, remove_folder
from compile_lens.workers.cache_leases import gate, in_use
from compile_lens.workers.caches import LAYOUT, PARTS

log = logging.getLogger(__name__)

DEFAULT_LIMIT_BYTES = 4_000_000_000
# a cache over its limit shrinks to this share of it, so that the next run does not overstep it at once
KEPT = 0.8
LOOK_AGAIN_S = 6 * 3600.0
OLD_LAYOUT_S = 30 * 24 * 3600.0
# what is in longer ones cannot be named whole (PATH_MAX is 4096); no compiler makes them
LONGEST_PATH = 2048
_STAMP = "looked-at"
_TRASH = "trash-"
# it has gone since it was seen, or a run has put a link in the place of a folder around it
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class CacheInUseError(Exception):
    """A run holds the caches; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class CachePart:
    """One of ``PARTS``: its size on disk."""

    name: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Folder:
    """The files that stand directly in one folder: torch and triton keep what belongs together in one, and make it again as one."""

    path: Path
    bytes: int
    used: float


def measure(root: Path) -> list[CachePart]:
    """The size of each part of the caches below ``root``; a file that vanishes meanwhile counts for nothing."""
    found = []
    for name in PARTS:
        part = root / name
        # what a link leads to is somebody else's, and no part of ours
        if not part.is_symlink():
            open_closed(str(part))
        sizes = [_on_disk(status) for _, status in _files(part)]
        found.append(CachePart(name, len(sizes), sum(sizes)))
    return found


def limit(root: Path, most: int, *, now: bool = False) -> int:
    """Take out what was used longest ago until the caches below ``root`` are within ``most`` bytes; how many bytes went.

    Looks once in a few hours unless ``now``. While any run goes on nothing is taken away. Never raises for the state of the disk.
    """
    stamp = root / _STAMP
    try:
        if not root.is_dir() or (not now and time.time() - stamp.stat().st_mtime < LOOK_AGAIN_S):
            return 0
    except OSError:
        pass  # never looked
    try:
        stamp.touch()
        folders = sorted(_folders(root), key=lambda folder: folder.used)
        total = sum(folder.bytes for folder in folders)
        gone: list[_Folder] = []
        if total > most:
            for folder in folders:
                if total <= most * KEPT:
                    break
                gone.append(folder)
                total -= folder.bytes
        _remove(root, [*_closed(root), *(folder.path for folder in gone), *_old_layouts(root.parent)])
    except (OSError, Timeout, CacheInUseError) as error:
        log.info("The caches in %s were not looked through: %s", root, error)
        return 0
    return sum(folder.bytes for folder in gone)


def clear(root: Path, parts: tuple[str, ...] = PARTS) -> int:
    """Delete ``parts`` of the caches below ``root``; how many bytes went. Raises CacheInUseError, OSError."""
    size = sum(part.bytes for part in measure(root) if part.name in parts)
    try:
        _remove(root, [root / name for name in parts])
    except Timeout:
        raise CacheInUseError("The caches are being cleaned up by another process; try again.") from None
    return size


def _remove(root: Path, paths: list[Path]) -> None:
    """Move ``paths`` aside at once, behind the gate, then delete them. Raises CacheInUseError, Timeout, OSError."""
    if not root.is_dir():
        return
    trash = root / f"{_TRASH}{uuid.uuid4().hex}"
    with gate(root):
        if in_use(root):
            raise CacheInUseError("A run is using the caches; try again when it has ended.")
        trash.mkdir()
        for number, path in enumerate(paths):
            try:
                move_out(str(root.parent), str(path.relative_to(root.parent)), str(trash), str(number))
            except OSError as error:
                if error.errno not in _NOT_THERE:
                    raise
        leftovers = list(root.glob(f"{_TRASH}*"))
    for folder in leftovers:
        remove_folder(str(folder))


def _old_layouts(base: Path) -> Iterator[Path]:
    """Folders of another Compile Lens that nobody has used for long."""
    before = time.time() - OLD_LAYOUT_S
    for folder in base.glob("v[0-9]*"):
        if (
            folder.name != LAYOUT
            and not folder.is_symlink()
            and all(status.st_mtime < before for _, status in _files(folder))
        ):
            yield folder


def _closed(root: Path) -> Iterator[Path]:
    """The outermost folders that cannot be looked into, or hardly be named: no compiler makes them, and what is in them would never be
    deleted."""
    waiting = [root / name for name in PARTS if not (root / name).is_symlink()]
    while waiting:
        folder = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
        except PermissionError:
            yield folder
        except OSError:
            continue
        else:
            paths = [Path(entry.path) for entry in entries]
            yield from (path for path in paths if len(os.fsencode(path)) > LONGEST_PATH)
            waiting += [path for path in paths if len(os.fsencode(path)) <= LONGEST_PATH]


def _folders(root: Path) -> Iterator[_Folder]:
    sizes: dict[str, int] = defaultdict(int)
    used: dict[str, float] = defaultdict(float)
    now = time.time()
    for name in PARTS:
        for path, status in _files(root / name):
            folder = os.path.dirname(path)  # noqa: PTH120 - tens of thousands of them
            sizes[folder] += _on_disk(status)
            # a run may say that its files are used in the year 9999, and would have all others deleted first
            used[folder] = max(used[folder], min(now, max(status.st_atime, status.st_mtime)))
    for folder, size in sizes.items():
        yield _Folder(Path(folder), size, used[folder])


def _on_disk(status: os.stat_result) -> int:
    """What a file takes; one with holes says that it has more."""
    return min(status.st_size, status.st_blocks * 512) if sys.platform != "win32" else status.st_size


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Each file below ``folder``, however deep; links are not followed, and ``folder`` is not if it is one."""
    waiting = [] if folder.is_symlink() else [os.fspath(folder)]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield entry.path, entry.stat(follow_symlinks=False)
