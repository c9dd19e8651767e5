"""Covers folders with copies: what a run writes there goes to the run's own file system, and sockets there lead nowhere (Linux)."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass, field

from . import kernel
from .policy import is_below

READ_ONLY, NO_SETUID, NO_DEVICES, BIND, RECURSIVE = 0x1, 0x2, 0x4, 0x1000, 0x4000
MAX_ENTRIES = 4000
COPIED_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Layer:
    """``folder`` takes the changes in ``place``. ``known`` are times and sizes of files that were put there before the run."""

    place: str
    folder: str
    known: dict[str, tuple[int, int]] = field(default_factory=dict)


class Covers:
    """Overlays of one run; their changes go to ``scratch``, which ``handle`` leads to wherever it is covered."""

    def __init__(self, scratch: str, handle: int, mounts: list[str]) -> None:
        self._scratch = scratch
        self._own = f"/proc/self/fd/{handle}"
        self._mounts = mounts
        self._count = 0
        self.layers: list[Layer] = []
        # file systems inside a covered folder that no overlay works on
        self.uncovered: list[str] = []

    def cover(self, place: str, with_mounts: bool = True) -> None:
        """Cover ``place``, in which are no links, and the file systems mounted inside it, or leave those out. Raises OSError."""
        self.cover_held(place, hold(place), with_mounts)

    def cover_held(self, place: str, below: int, with_mounts: bool = True) -> None:
        """Cover ``place``, which ``below`` is; that is closed. Raises OSError."""
        try:
            self._cover(place, place, below, with_mounts)
        finally:
            os.close(below)

    def freeze(self, place: str) -> None:
        """Show ``place`` through an overlay that nobody can write to. Sockets there lead nowhere, also those that are made later; and what
        is mounted on a file there stays when somebody outside replaces the file. Raises OSError."""
        if self._inside(place) or any(is_below(layer.place, [place]) for layer in self.layers):
            raise OSError(f"{place} has file systems mounted inside")
        empty = f"{self._own}/frozen-{self._count}"
        self._count += 1
        os.mkdir(empty, 0o500)
        below = _opened(place)
        try:
            flags = NO_SETUID | NO_DEVICES | READ_ONLY
            # there and nowhere else, though a link may have taken the place of the path meanwhile
            opened = f"/proc/self/fd/{below}"
            kernel.mount("overlay", opened, "overlay", flags, f"lowerdir={opened}:{empty},userxattr")
        finally:
            os.close(below)

    def _cover(self, place: str, target: str, below: int, with_mounts: bool) -> None:
        """Show the folder ``below``, which the program knows as ``place``, at ``target``."""
        inside = self._inside(place)
        handles = {point: handle for point in inside if with_mounts and (handle := _handle(point)) is not None}
        try:
            try:
                self._overlay(place, target, below)
            except OSError:
                # in a user namespace, mounts inside are locked, and a folder that has some cannot be a layer
                if not inside:
                    raise
                self._cover_entries(place, target, below, inside, with_mounts)
                return
            for point, handle in handles.items():
                # one in another is covered with it
                if not any(is_below(point, [other]) for other in handles if other != point):
                    self._cover_mount(point, target + point[len(place) :], handle, with_mounts)
        finally:
            for handle in handles.values():
                os.close(handle)

    def _inside(self, place: str) -> list[str]:
        return [point for point in self._mounts if point != place and is_below(point, [place])]

    def _overlay(self, place: str, target: str, below: int) -> None:
        changes, work = f"changes-{self._count}", f"work-{self._count}"
        self._count += 1
        for name in (changes, work):
            os.mkdir(os.path.join(self._own, name))
        # the upper folder is what the program sees of the place itself
        with contextlib.suppress(OSError):
            shutil.copymode(f"/proc/self/fd/{below}", os.path.join(self._own, changes))
        options = f"lowerdir=/proc/self/fd/{below},upperdir={self._own}/{changes},workdir={self._own}/{work},userxattr"
        kernel.mount("overlay", target, "overlay", NO_SETUID | NO_DEVICES, options)
        self.layers.append(Layer(place, os.path.join(self._scratch, changes)))

    def _cover_mount(self, place: str, target: str, handle: int, with_mounts: bool) -> None:
        """Show the file system ``handle``; one that cannot be a layer stays as it is, read-only."""
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            try:
                self._cover(place, target, handle, with_mounts)
                return
            except OSError:
                self.uncovered.append(place)
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            with contextlib.suppress(OSError):
                kernel.mount(f"/proc/self/fd/{handle}", target, None, BIND | RECURSIVE)

    def _cover_entries(self, place: str, target: str, below: int, inside: list[str], with_mounts: bool) -> None:
        """Build the folder anew from what is in it: overlays of its folders, its files, and no sockets."""
        frame = f"frame-{self._count}"
        self._count += 1
        built = os.path.join(self._own, frame)
        os.mkdir(built)
        known: dict[str, tuple[int, int]] = {}
        # the handle of a folder cannot be listed, and its path may lead to what is mounted on it by now
        readable = os.open(f"/proc/self/fd/{below}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            names = os.listdir(readable)
            if len(names) > MAX_ENTRIES:
                raise OSError(f"{place} has file systems mounted inside and more than {MAX_ENTRIES} entries")
            for name in names:
                self._show_entry(os.path.join(place, name), os.path.join(built, name), readable, inside, with_mounts)
                with contextlib.suppress(OSError):
                    status = os.lstat(os.path.join(built, name))
                    known[name] = (status.st_mtime_ns, status.st_size)
        finally:
            os.close(readable)
        shutil.copystat(f"/proc/self/fd/{below}", built)
        kernel.mount(built, target, None, BIND | RECURSIVE)
        # what is hidden at the place itself must not be found here
        kernel.mount("tmpfs", built, "tmpfs", NO_SETUID | NO_DEVICES | READ_ONLY, "size=4k,mode=000")
        self.layers.append(Layer(place, place, known))

    def _show_entry(self, place: str, target: str, folder: int, inside: list[str], with_mounts: bool) -> None:
        name = os.path.basename(place)
        is_mount = place in inside
        if is_mount and not with_mounts:
            if os.path.isdir(place):
                os.mkdir(target)
            return
        try:
            # what is mounted there, if there is a mount
            handle = (
                _handle(place) if is_mount else os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            )
        except FileNotFoundError:
            return  # deleted meanwhile
        if handle is None:
            return
        try:
            mode = os.fstat(handle).st_mode
            if stat.S_ISLNK(mode):
                os.symlink(os.readlink(name, dir_fd=folder), target)
            elif stat.S_ISDIR(mode):
                os.mkdir(target)
                if is_mount:
                    self._cover_mount(place, target, handle, with_mounts)
                else:
                    self._cover(place, target, handle, with_mounts)
            elif stat.S_ISREG(mode):
                _show_file(handle, target, is_mount)
        finally:
            os.close(handle)


def _show_file(handle: int, target: str, is_mount: bool) -> None:
    """A small file is copied, so that it can be changed; a large one is shown read-only."""
    source, status = f"/proc/self/fd/{handle}", os.fstat(handle)
    if status.st_size <= COPIED_BYTES and not is_mount:
        with contextlib.suppress(PermissionError):
            shutil.copy2(source, target)
            return
    if not os.path.exists(target):
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o400))
    kernel.mount(source, target, None, BIND)


def hold(place: str) -> int:
    """A handle of ``place``, in which are no links. Raises OSError."""
    handle = _opened(place)
    # another run may have put a link there meanwhile, to what this one must not read under any name
    if kernel.path_of(handle) != place:
        os.close(handle)
        raise OSError(f"{place} has become a link")
    return handle


def _opened(place: str) -> int:
    return os.open(place, os.O_PATH | os.O_CLOEXEC)


def _handle(path: str) -> int | None:
    try:
        return _opened(path)
    except OSError:
        return None
