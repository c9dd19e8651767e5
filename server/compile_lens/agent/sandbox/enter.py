"""The sandbox put together: the strongest that this machine offers, put around the process that calls, for good."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass

from . import calls, kernel, landlock, limits, namespaces, syscall_filter
from .policy import (
    DEVICES,
    DOORS,
    SHARED_MEMORY,
    Policy,
    gpu_devices,
    is_below,
    own_threads,
    secrets,
    temporary_folders,
)

OVERLAY, LANDLOCK, PYTHON = "overlay", "landlock", "python"
# a GPU that a library does not see is not used
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}
# without a network these ask for nothing, and say so at once
MOST_WRITTEN = 500
# a program may have replaced it
_walk = os.walk
NO_NETWORK = {"HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline"}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What is in force. ``kind`` is ``overlay``, ``landlock`` or ``python``; ``open_ends`` says what is not held, a phrase each."""

    kind: str
    open_ends: tuple[str, ...]
    view: namespaces.View | None
    places: tuple[str, ...] = ()

    def written(self) -> list[str]:
        """Files that were made, changed or deleted on a copy, by the names that the program has for them.

        Temporary files, and what libraries keep in hidden folders, are left out. At most some hundreds.
        """
        if self.view is None:
            return []
        found: list[str] = []
        for place, layer in zip(self.view.copied, self.view.layers, strict=True):
            for start in self._starts(place):
                inside = os.path.normpath(os.path.join(layer, os.path.relpath(start, place)))
                for folder, folders, names in _walk(inside):
                    folders[:] = [name for name in folders if not name.startswith(".")]
                    here = os.path.normpath(os.path.join(start, os.path.relpath(folder, inside)))
                    found += [os.path.join(here, name) for name in names if not name.startswith(".")]
                    if len(found) > MOST_WRITTEN:
                        return found
        return list(dict.fromkeys(found))

    def _starts(self, place: str) -> list[str]:
        """Where to look for what a program means to keep: of temporary folders, only where the program is at home."""
        if place in namespaces.SERVICES:
            return []
        return [start for start in self.places if is_below(start, [place])] if place in temporary_folders() else [place]


def enter(policy: Policy, kind: str, places: list[str], tell: calls.Tell) -> Sandbox:
    """Put this process, which must have one thread, into the sandbox of ``kind``. ``places``: folders the program is about.

    Raises OSError when the kernel refuses what it offered before; the process must not go on then.
    """
    for name in DOORS:
        os.environ.pop(name, None)
    os.environ.update({} if policy.gpu else NO_GPU)
    if policy.gpu and any(os.path.basename(device).startswith("nvidia") for device in gpu_devices()):
        _compile_in_this_process()
    for name, value in ({} if policy.network else NO_NETWORK).items():
        os.environ.setdefault(name, value)
    hidden = secrets()
    view = namespaces.enter(policy, places, hidden) if kind == OVERLAY else None
    if view is None:
        _use_scratch_for_temporary_files(policy.scratch)
    limits.apply(policy, counts_alone=view is not None)
    open_ends = _restrict(policy, kind, view, hidden) if kind != PYTHON else _not_held()
    writable = (*view.copied, *view.kept) if view else (policy.scratch, *policy.caches, *policy.allow_write)
    rules = calls.Rules(
        writable=writable if kind != LANDLOCK else (*writable, SHARED_MEMORY),
        secret=tuple(hidden),
        network=policy.network,
        own_network=view is not None,
        processes=kind != PYTHON,
    )
    calls.install(rules, tell)
    return Sandbox(kind, tuple(open_ends), view, tuple(map(os.path.realpath, places)))


def _compile_in_this_process() -> None:
    """Inductor's compiling processes start NVIDIA's driver, too, and ``own_threads`` is of this process alone."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    config = sys.modules.get("torch._inductor.config")
    if config is not None:  # it has read the environment already
        config.compile_threads = 1  # type: ignore[attr-defined]


def _use_scratch_for_temporary_files(scratch: str) -> None:
    os.environ.update({"TMPDIR": scratch, "TEMP": scratch, "TMP": scratch})
    tempfile.tempdir = None


def _restrict(policy: Policy, kind: str, view: namespaces.View | None, hidden: list[str]) -> list[str]:
    """What the kernel refuses from now on; what it is too old to refuse is returned."""
    version = landlock.abi()
    open_ends = []
    with contextlib.suppress(OSError):
        kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if version:
        rules = landlock.Ruleset(version, reads=view is None, network=policy.network or view is not None)
        writable = (
            (*view.copied, *view.kept) if view else (policy.scratch, *policy.caches, *policy.allow_write, SHARED_MEMORY)
        )
        rules.allow_writes([*writable, *DEVICES, *((*gpu_devices(), own_threads()) if policy.gpu else ())])
        if view is None:
            rules.allow_reads(_all_but(hidden))
        rules.restrict()
        closes_tcp = rules.closes_tcp
        if not rules.scopes:
            open_ends.append("signals to your other processes")
    else:
        closes_tcp = False
    internet = "all" if policy.network or view is not None else "tcp" if closes_tcp else "none"
    try:
        syscall_filter.install(internet, pretends_attributes=view is None)
    except OSError:
        open_ends.append("system calls")
    if view is None:
        open_ends.append("sockets of services on this machine")
    return open_ends


def _all_but(hidden: list[str]) -> list[str]:
    """Paths that together hold everything but ``hidden``: Landlock allows, and takes nothing back."""
    allowed: list[str] = []
    pending = [os.sep]
    while pending:
        folder = pending.pop()
        if not any(secret.startswith(os.path.join(folder, "")) for secret in hidden):
            if folder not in hidden:
                allowed.append(folder)
            continue
        with contextlib.suppress(OSError):
            # a link leads to something that has a name of its own
            pending += [entry.path for entry in os.scandir(folder) if not entry.is_symlink()]
    return allowed


def _not_held() -> list[str]:
    return ["native code", "programs that it starts"]
