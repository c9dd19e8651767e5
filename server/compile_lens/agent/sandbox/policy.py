"""What the host allows a run to do, and the paths on this machine that follow from it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..runtime.own_home import own_home
from ..runtime.protocol import GPU_DEVICES, SandboxSpec
from ..runtime.task_group import most_threads
from . import secret_places
from .mounts import mounts, other_names

SHARED_MEMORY = "/dev/shm"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Policy:
    """What the host allows. Paths are absolute and contain no links.

    ``scratch`` is an empty folder of this run; ``caches`` are private caches that stay. ``strongest`` is the strongest kind to try:
    ``overlay``, ``landlock`` or ``python``. ``alone``: the run gets a process namespace. ``covered`` and ``hidden`` are folders that are
    copied and files that cannot be read in any case, whatever the program's own variables say. ``threads`` is how many
    it may have in all its processes, 0 for no limit. ``gpu`` and ``hides_gpus`` are those of the ``SandboxSpec``.
    """

    strongest: str
    scratch: str
    caches: tuple[str, ...]
    allow_write: tuple[str, ...]
    network: bool
    gpu: bool
    memory_bytes: int
    disk_bytes: int
    cpu_s: int
    niceness: int
    alone: bool = False
    covered: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    threads: int = 4096
    hides_gpus: bool = True

    @staticmethod
    def read(spec: SandboxSpec, alone: bool) -> Policy:
        """The policy in a command of the host, for the user whom the variables of this process describe now."""
        return Policy(
            strongest=spec.strongest.value,
            scratch=os.path.realpath(spec.scratch),
            caches=tuple(os.path.realpath(path) for path in spec.caches),
            allow_write=spec.allow_write,
            network=spec.network,
            gpu=spec.gpu,
            memory_bytes=spec.memory_bytes,
            disk_bytes=spec.disk_bytes,
            cpu_s=spec.cpu_s,
            niceness=spec.niceness,
            alone=alone,
            covered=(home(), *temporary_folders()),
            hidden=tuple(secrets()),
            threads=most_threads(spec.processes),
            hides_gpus=spec.hides_gpus,
        )


def home() -> str:
    """The home directory, with links resolved."""
    return os.path.realpath(os.path.expanduser("~"))


def secrets(known: tuple[str, ...] = ()) -> list[str]:
    """The files and folders with secrets that exist, and ``known``, with links resolved, the outermost first.

    Each with its other names, where its file system is mounted in several places.
    """
    base = home()
    # programs keep them in either: SSH asks the system where home is, and most others ask the variable
    homes = dict.fromkeys((base, own_home()))
    # what a variable leads to may be a folder around what every program needs; whatever that is, usual places are secrets
    needed = (base, *temporary_folders())
    usual = _existing(homes, {}, needed=(own_home(),))
    own = {*usual, *_existing(homes, os.environ, needed), *known}
    table = mounts() if own else []
    named = own.union(*(other_names(path, table) for path in own))
    found: list[str] = []
    for path in sorted(named):
        if not is_below(path, found):
            found.append(path)
    return found


def _existing(homes: Collection[str], environment: Mapping[str, str], needed: Collection[str]) -> set[str]:
    """The secrets of ``homes`` where ``environment`` says, but those that have one of ``needed`` in them."""
    ways = (secret_places.candidates, secret_places.settings_with_secrets)
    places = (os.path.expanduser(path) for way in ways for each in homes for path in way(each, environment))
    # what a variable leads to may be a device, such as the null device
    existing = {os.path.realpath(path) for path in places if os.path.isfile(path) or os.path.isdir(path)}
    return {path for path in existing if not any(is_below(folder, [path]) for folder in needed)}


def is_below(path: str, folders: Any) -> bool:
    """Whether ``path`` is one of ``folders`` or inside one."""
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def temporary_folders() -> list[str]:
    """Folders that any program expects to be writable."""
    found = [os.path.realpath(tempfile.gettempdir())]
    if sys.platform != "win32":
        found += [path for path in ("/tmp", "/var/tmp") if os.path.isdir(path)]
    return list(dict.fromkeys(found))


def own_threads() -> str:
    """Where this process names its threads (Linux). NVIDIA's driver does not start in a process that cannot write here (CUDA error 304)."""
    return f"/proc/{os.getpid()}/task"


def gpu_devices() -> list[str]:
    """The device files of GPUs (Linux)."""
    try:
        return [os.path.join("/dev", name) for name in os.listdir("/dev") if name.startswith(GPU_DEVICES)]
    except OSError:
        return []
