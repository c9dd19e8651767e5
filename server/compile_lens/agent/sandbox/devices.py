"""A private ``/dev`` for one run (Linux): a few harmless devices, terminals of its own, and GPUs where they are allowed."""

from __future__ import annotations

import contextlib
import os
import stat

from . import kernel
from .policy import DEVICES, gpu_devices

FOLDER = "/dev"
TERMINAL = "/dev/tty"
NO_SETUID, NO_DEVICES, NO_PROGRAMS, BIND, RECURSIVE = 0x2, 0x4, 0x8, 0x1000, 0x4000
READ_ONLY = 0x1
# all programs of the machine take them out of one number (/proc/sys/kernel/pty/max)
MAX_TERMINALS = 256
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}


def mount_devices(gpu: bool, shared_memory: str) -> None:
    """Cover ``/dev``: the devices of the machine and the terminals of the user are then out of reach. Raises OSError.

    The folder ``shared_memory`` takes what is shared in memory.
    """
    shown = [*DEVICES, TERMINAL, *(gpu_devices() if gpu else ())]
    handles = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in shown if os.path.exists(path)}
    kernel.mount("tmpfs", FOLDER, "tmpfs", NO_SETUID | NO_PROGRAMS, "mode=755,size=64k")
    for path, handle in handles.items():
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        kernel.mount(f"/proc/self/fd/{handle}", path, None, BIND | RECURSIVE)
        # taken from all mounts before; devices must work again here, and keep their modes
        kernel.set_mount_attributes(path, READ_ONLY, NO_DEVICES, recursive=True)
        os.close(handle)
    for name, target in LINKS.items():
        os.symlink(target, os.path.join(FOLDER, name))
    _mount_terminals()
    os.mkdir(f"{FOLDER}/shm")
    kernel.mount(shared_memory, f"{FOLDER}/shm", None, BIND)
    kernel.set_mount_attributes(FOLDER, READ_ONLY, 0, recursive=False)


def _mount_terminals() -> None:
    """Terminals that this run opens are in a file system of its own."""
    folder = os.path.join(FOLDER, "pts")
    os.mkdir(folder)
    with contextlib.suppress(OSError):  # a kernel without them: the folder stays empty
        kernel.mount(
            "devpts",
            folder,
            "devpts",
            NO_SETUID | NO_PROGRAMS,
            f"newinstance,ptmxmode=0666,mode=620,max={MAX_TERMINALS}",
        )
        os.symlink("pts/ptmx", os.path.join(FOLDER, "ptmx"))
