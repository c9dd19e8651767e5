"""A private view of the machine for one run (Linux): file systems are read-only, folders that programs write to are copy-on-write,
secrets are hidden, and the network is loopback only.

Writes go to a file system in memory that disappears with the last process of the run. Needs user namespaces or the right to mount, and
Linux 5.12.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from ..runtime.protocol import SHARED_IN_SCRATCH
from . import kernel
from .devices import mount_devices
from .mounts import mounts
from .open_sockets import OF_THE_KERNEL, SERVICES, open_sockets
from .others_folders import below_others
from .overlays import Covers, Layer
from .policy import SHARED_MEMORY, Policy, home, is_below, temporary_folders

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_NETWORK = 0x20000, 0x08000000, 0x10000000, 0x40000000
NO_SETUID, NO_DEVICES, BIND, RECURSIVE, PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
READ_ONLY = 0x1
# of a file system in memory: an empty file takes a kilobyte of the kernel's, which no limit on bytes counts
MAX_FILES = 200_000
# of the limit on files: a copy that is full then raises an error that programs know, and is not ended for the few files of its caches,
# which count with it (runtime/budget.py)
IN_MEMORY, OF = 15, 16
# project ids of a quota, which anyone may map once in a user namespace (user_namespaces(7)): the last, which nothing has
NO_PROJECT = "4294967294 4294967294 1"
# of inotify: the limit of a user namespace, and that of the user (namespaces(7), inotify(7)). Several runs may go on at once
WATCHES = {
    "/proc/sys/user/max_inotify_instances": "/proc/sys/fs/inotify/max_user_instances",
    "/proc/sys/user/max_inotify_watches": "/proc/sys/fs/inotify/max_user_watches",
}
SHARE_OF_WATCHES = 8


@dataclass(frozen=True, slots=True)
class View:
    """What may be written. Changes in the folders ``overlaid`` go to ``layers``; changes in ``persistent`` stay."""

    overlaid: tuple[str, ...]
    layers: tuple[Layer, ...]
    persistent: tuple[str, ...]


def enter(policy: Policy, places: list[str], hidden: list[str]) -> View:
    """Move this process, which must have one thread, into the view. ``places`` are the program's folders, first that
    of its file; ``hidden`` paths appear empty.

    Raises OSError, also if a folder that every program may write to cannot be covered; the process must then not run the program.
    """
    scratch = policy.scratch
    existing = [path for path in (*policy.caches, *policy.allow_write) if os.path.exists(path)]
    sockets = open_sockets()
    _leave_namespaces(policy.network)
    handles = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in existing}
    # another run may have put a link there meanwhile
    persistent = [path for path, handle in handles.items() if kernel.path_of(handle) == path]
    kernel.mount(None, "/", None, RECURSIVE | PRIVATE)
    kernel.set_mount_attributes("/", READ_ONLY | NO_DEVICES, 0, recursive=True)
    room = policy.disk_bytes * IN_MEMORY // OF
    on_disk = os.stat(scratch).st_dev
    handles[scratch] = _prepare_scratch(scratch, room)
    is_in_memory = os.fstat(handles[scratch]).st_dev != on_disk
    covers = Covers(scratch, handles[scratch], [mount.point for mount in mounts()])
    chosen = [home(), *temporary_folders()]
    needed = _real_folders([*(policy.covered or chosen), *places[:1]])
    wanted = _real_folders([*chosen, *places[1:]])
    inner = below_others([*needed, *wanted])
    overlaid = _cover(covers, needed, wanted)
    for place, handle in inner.items():
        try:
            covers.cover_held(place, handle)
        except OSError:
            if place in needed:
                raise
    for place in needed:
        if is_below(place, covers.uncovered):
            raise OSError(f"no overlay works on {place}")
    uncovered = [path for path in sockets if is_below(path, covers.uncovered) or not is_below(path, overlaid)]
    _freeze(covers, [*uncovered, *(path for path in hidden if not is_below(path, overlaid))])
    for path in (*persistent, scratch):
        _make_writable(path, handles[path])
    # no overlay is between a run and the sockets in a folder that it may change
    _hide(hidden, [*uncovered, *(path for path in sockets if is_below(path, persistent))], scratch)
    mount_devices(policy.gpu, _shared_memory(scratch, 0 if is_in_memory else room))
    for handle in handles.values():
        os.close(handle)
    return View(tuple(overlaid), tuple(covers.layers), (*persistent, scratch, SHARED_MEMORY))


def _cover(covers: Covers, needed: list[str], wanted: list[str]) -> list[str]:
    """Cover the folders, and return the outermost of them. Raises OSError if one that is ``needed`` cannot be covered.

    The workspace chooses the others, by ``launch.json``: what cannot be covered there stays read-only, and does not weaken the sandbox.
    """
    places = [*needed, *wanted]
    waiting = _outermost([*places, *_real_folders(SERVICES)])
    overlaid = []
    while waiting:
        place = waiting.pop(0)
        try:
            covers.cover(place, with_mounts=place in places)
        except OSError:
            if place in needed or place not in wanted:
                raise
            places = [other for other in places if other != place]
            waiting += _outermost([other for other in places if is_below(other, [place])])
        else:
            overlaid.append(place)
    return overlaid


def _freeze(covers: Covers, paths: list[str]) -> None:
    """Freeze the folders around sockets and secrets, which a service may make anew while the run goes on."""
    frozen: list[str] = []
    for folder in sorted(set(map(os.path.dirname, paths))):
        if not is_below(folder, [*OF_THE_KERNEL, *frozen]) and folder != "/":
            with contextlib.suppress(OSError):  # what is there now is hidden
                covers.freeze(folder)
                frozen.append(folder)


def _leave_namespaces(network: bool) -> None:
    flags = NEW_MOUNTS | NEW_IPC | (0 if network else NEW_NETWORK)
    if kernel.can_mount():
        kernel.unshare(flags)
    else:
        shares = _shares_of_watches()
        user, group = os.geteuid(), os.getegid()
        kernel.unshare(flags | NEW_USER)
        maps = {"uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1", "projid_map": NO_PROJECT}
        for name, text in {"setgroups": "deny", **maps}.items():
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
        for path, share in shares.items():
            with contextlib.suppress(OSError), open(path, "w", encoding="ascii") as file:
                file.write(str(share))
    if not network:
        _bring_loopback_up()


def _shares_of_watches() -> dict[str, int]:
    """What a run may take of the user's, by the file that limits it in a user namespace."""
    found = {}
    for limit, whole in WATCHES.items():
        with contextlib.suppress(OSError, ValueError), open(whole, encoding="ascii") as file:
            found[limit] = max(1, int(file.read()) // SHARE_OF_WATCHES)
    return found


def _bring_loopback_up() -> None:
    """Programs connect to themselves over 127.0.0.1 (``torch.distributed``); nothing else can be reached there."""
    import fcntl

    set_flags, up_and_running = 0x8914, 0x41
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", up_and_running))


def _prepare_scratch(scratch: str, size: int) -> int:
    """Mount a file system in memory on the scratch folder; returns a descriptor of the folder that takes the changes.

    Overlays mark deletions with extended attributes, which such a file system supports since Linux 6.6; before that, changes stay on
    disk in the scratch folder itself.
    """
    on_disk = os.open(scratch, os.O_PATH | os.O_CLOEXEC)
    kernel.mount("tmpfs", scratch, "tmpfs", NO_SETUID | NO_DEVICES, f"size={size},nr_inodes={MAX_FILES},mode=700")
    try:
        os.setxattr(scratch, "user.compile_lens", b"")
    except OSError:
        kernel.unmount(scratch)
        _make_writable(scratch, on_disk)
    os.close(on_disk)
    return os.open(scratch, os.O_PATH | os.O_CLOEXEC)


def _shared_memory(scratch: str, size: int) -> str:
    """A folder in memory, within the limit that holds for all files of the run: in a file system of its own of this ``size``, or, for 0, in
    that of the scratch folder. What is around that one does not tell: it may be a copy that the run's file system has, too."""
    folder = os.path.join(scratch, SHARED_IN_SCRATCH)
    os.mkdir(folder)
    if size:
        kernel.mount("tmpfs", folder, "tmpfs", NO_SETUID | NO_DEVICES, f"size={size},nr_inodes={MAX_FILES}")
    os.chmod(folder, 0o1777)
    return folder


def _real_folders(places: Iterable[str]) -> list[str]:
    found = {os.path.realpath(place) for place in places}
    return sorted(place for place in found if place != "/" and os.path.isdir(place))


def _outermost(places: list[str]) -> list[str]:
    """The folders to cover: one inside another is covered with it."""
    chosen: list[str] = []
    for place in sorted(set(places)):
        if not is_below(place, chosen):
            chosen.append(place)
    return chosen


def _make_writable(path: str, handle: int) -> None:
    """Make ``path`` writable again, above an overlay that may cover it."""
    kernel.mount(f"/proc/self/fd/{handle}", path, None, BIND | RECURSIVE)
    kernel.set_mount_attributes(path, 0, READ_ONLY, recursive=False)


def _hide(paths: list[str], sockets: list[str], scratch: str) -> None:
    """Mount something empty on each of ``paths``, and on each of ``sockets`` that can still be reached."""
    folder, file = os.path.join(scratch, "nothing"), os.path.join(scratch, "empty")
    os.mkdir(folder, 0o500)
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o400))
    for path in (*paths, *filter(_is_socket, sockets)):
        empty = folder if os.path.isdir(path) else file
        kernel.mount(empty, path, None, BIND)
        kernel.set_mount_attributes(path, READ_ONLY, 0, recursive=False)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False
