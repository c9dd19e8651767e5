"""Puts the calling process into a sandbox of a given kind. A process cannot leave it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from dataclasses import dataclass

from ..runtime.protocol import SERVICE_VARIABLES
from ..runtime.task_group import BEYOND
from ..torch_internals.options import set_loaded_option
from . import (
    calls,
    devices,
    initial_environment,
    kernel,
    landlock,
    namespaces,
    own_program,
    process_space,
    secret_places,
    sent_files,
    syscall_filter,
)
from .device_places import device_places
from .open_sockets import SERVICES, open_sockets
from .overlays import Layer
from .policy import (
    DEVICES,
    SHARED_MEMORY,
    Policy,
    gpu_devices,
    home,
    is_below,
    own_threads,
    secrets,
    temporary_folders,
)

OVERLAY, LANDLOCK, PYTHON = "overlay", "landlock", "python"
# what the audit hook alone does not restrict
OUTSIDE_PYTHON = ("native code", "programs that it starts")
# libraries do not use a GPU that they do not see
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}
# without a network, these libraries then fail at once instead of after a timeout
NO_NETWORK = {"HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline"}
MAX_WRITTEN = 500
# kept because a program may replace it
_walk = os.walk
# the limit of the kernel's is on all processes of the user; in other containers there may be some that cannot be counted
UNSEEN_THREADS = 8192
# what the kernel answers where its memory for filters is used up: of it at all, and of what it translates them into (ENOTSUPP, which has no
# name outside of it)
NO_ROOM_FOR_FILTERS = (errno.ENOMEM, 524)


@dataclass(frozen=True, slots=True)
class EnteredSandbox:
    """What is in force. ``kind`` is ``overlay``, ``landlock`` or ``python``; ``unrestricted`` lists what is not covered."""

    kind: str
    unrestricted: tuple[str, ...]
    view: namespaces.View | None
    places: tuple[str, ...] = ()

    def written(self) -> list[str]:
        """Files that were created, changed or deleted in an overlay, by the paths that the program sees.

        Temporary files and hidden files and folders are left out. Stops soon after ``MAX_WRITTEN`` files.
        """
        if self.view is None:
            return []
        found: list[str] = []
        for layer in self.view.layers:
            for start in self._starts(layer):
                inside = os.path.normpath(os.path.join(layer.folder, os.path.relpath(start, layer.place)))
                for folder, folders, names in _walk(inside):
                    at_top = folder == layer.folder
                    # a folder that was put there has a layer of its own
                    folders[:] = [
                        name for name in folders if not name.startswith(".") and not (at_top and name in layer.known)
                    ]
                    here = os.path.normpath(os.path.join(start, os.path.relpath(folder, inside)))
                    found += [
                        os.path.join(here, name)
                        for name in names
                        if not name.startswith(".") and not (at_top and layer.known and _is_as_put(layer, name))
                    ]
                    if len(found) > MAX_WRITTEN:
                        return found
        return list(dict.fromkeys(found))

    def _starts(self, layer: Layer) -> list[str]:
        """Where to look for files that the program means to keep: in temporary folders, only its own folders."""
        place = layer.place
        if is_below(place, SERVICES):
            return []
        if not is_below(place, temporary_folders()) or is_below(place, self.places):
            return [place]
        has_layers = [os.path.join(place, name) for name in layer.known]
        return [start for start in self.places if is_below(start, [place]) and not is_below(start, has_layers)]


def _is_as_put(layer: Layer, name: str) -> bool:
    status = os.lstat(os.path.join(layer.folder, name))
    return layer.known.get(name) == (status.st_mtime_ns, status.st_size)


def enter(policy: Policy, kind: str, places: list[str], report: calls.Report, counted: bool = False) -> EnteredSandbox:
    """Put this process, which must have one thread, into a sandbox of ``kind``. ``places`` are the program's folders.

    ``counted``: the kernel counts all memory of this process and its descendants together.

    Raises OSError if the kernel refuses what it offered before; the process must then not run the program.
    """
    set_variables(policy.hides_gpus, policy.network)
    if policy.gpu and any(os.path.basename(device).startswith("nvidia") for device in gpu_devices()):
        _compile_in_this_process()
    hidden = secrets(policy.hidden)
    services = [path for path in open_sockets() if is_below(path, policy.allow_write)] if policy.allow_write else []
    view = namespaces.enter(policy, places, hidden) if kind == OVERLAY else None
    alone = view is not None and policy.alone
    if alone:
        process_space.enter(names_threads=policy.gpu)
    elif view is not None and policy.gpu:
        process_space.let_threads_be_named()
    if view is None:
        _use_scratch_for_temporary_files(policy.scratch)
    if kind == LANDLOCK:
        os.environ.update(secret_places.without_hidden_settings(hidden, home(), os.environ))
    _set_limits(policy, counts_separately=view is not None)
    unrestricted = _restrict(policy, view, hidden, counted, alone) if kind != PYTHON else OUTSIDE_PYTHON
    writable = (*view.overlaid, *view.persistent) if view else (policy.scratch, *policy.caches, *policy.allow_write)
    rules = calls.Rules(
        writable=writable if kind != LANDLOCK else (*writable, SHARED_MEMORY),
        secret=tuple(hidden),
        network=policy.network,
        own_network=view is not None,
        processes=kind != PYTHON,
        no_streams=kind == LANDLOCK and not policy.network,
        shows_secrets=view is None,
        services=tuple(services),
    )
    calls.install(rules, report)
    return EnteredSandbox(kind, tuple(unrestricted), view, tuple(map(os.path.realpath, places)))


def set_variables(hides_gpus: bool, network: bool) -> None:
    """Set the variables of this process by which libraries know what a sandboxed program may use."""
    initial_environment.forget(SERVICE_VARIABLES)
    for name in SERVICE_VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(NO_GPU if hides_gpus else {})
    for name, value in ({} if network else NO_NETWORK).items():
        os.environ.setdefault(name, value)


def _compile_in_this_process() -> None:
    """Turn off Inductor's compile workers: they start NVIDIA's driver, too, and ``own_threads`` is of this process alone."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    set_loaded_option("torch._inductor.config.compile_threads", 1)


def _use_scratch_for_temporary_files(scratch: str) -> None:
    os.environ.update({"TMPDIR": scratch, "TEMP": scratch, "TMP": scratch})
    tempfile.tempdir = None


def _restrict(policy: Policy, view: namespaces.View | None, hidden: list[str], counted: bool, alone: bool) -> list[str]:
    """Let the kernel restrict this process. Returns what this kernel is too old to restrict."""
    version = landlock.abi()
    unrestricted = []
    with contextlib.suppress(OSError):
        kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if version:
        rules = landlock.Ruleset(version, reads=view is None)
        shared = os.path.realpath(SHARED_MEMORY)
        own = (policy.scratch, *policy.caches, *policy.allow_write, shared)
        writable = (*view.overlaid, *view.persistent) if view else own
        rules.allow_writes([*writable, *((own_threads(),) if policy.gpu else ())])
        shown = (devices.FOLDER,) if view else (*DEVICES, *(gpu_devices() if policy.gpu else ()))
        rules.allow_devices(map(os.path.realpath, shown))
        if view is None:
            rules.allow_reads([*_all_but([*hidden, *device_places()]), shared])
        rules.restrict()
        if not rules.scopes and not alone:
            unrestricted.append("signals to your other processes")
        if len(os.listdir("/proc/self/task")) > 1:
            # Landlock restricts the thread that asks for it, and those that this one starts
            unrestricted.append("native code that takes over a thread of a library")
    calls_filter = syscall_filter.Filter(
        internet=policy.network or view is not None,
        pretends_attributes=view is None or own_program.can_be_changed() or _owns_files_of_network(policy),
        alone=alone,
        counted=counted or policy.gpu,
        gpu=policy.gpu,
        landlock=version,
    )
    if syscall_filter.is_offered():
        _filter_calls(calls_filter)
    else:
        unrestricted.append("system calls")
    if view is None:
        unrestricted.append("sockets of services on this machine")
    return unrestricted


def _owns_files_of_network(policy: Policy) -> bool:
    """Whether root may change modes of files of the machine's network, which each of the threads that a run may name shows, too."""
    return policy.gpu and policy.network and os.geteuid() == 0


def _filter_calls(calls_filter: syscall_filter.Filter) -> None:
    """Raises OSError where the kernel has no room for the filter now, which other programs may have used up: a weaker sandbox than the
    machine offers would be theirs to choose."""
    try:
        calls_filter.install()
    except OSError as error:
        if error.errno in NO_ROOM_FOR_FILTERS:
            raise OSError(
                "the kernel has no memory left for the seccomp filter; "
                "end programs that install many filters, or raise `net.core.bpf_jit_limit`"
            ) from None
        raise OSError(f"the kernel refused the seccomp filter: {error.strerror}") from None
    sent_files.answer_as_where_only_sockets_are_sent_to()


def _all_but(hidden: list[str]) -> list[str]:
    """Paths that together contain everything except ``hidden``: Landlock rules only allow, they cannot exclude."""
    allowed: list[str] = []
    pending = [os.sep]
    while pending:
        folder = pending.pop()
        if not any(secret.startswith(os.path.join(folder, "")) for secret in hidden):
            if folder not in hidden:
                allowed.append(folder)
            continue
        with contextlib.suppress(OSError):
            # the target of a link is covered under its own path
            pending += [entry.path for entry in os.scandir(folder) if not entry.is_symlink()]
    return allowed


def _set_limits(policy: Policy, counts_separately: bool) -> None:
    """Set the kernel's limits for this process and lower its priority; its tree is supervised from outside.

    ``counts_separately``: the kernel counts the processes of this run apart from the user's others.
    """
    if sys.platform == "win32":
        return
    import resource

    # 1 means none at all: with 0, the kernel would still hand them to a program of the system (core(5))
    _lower(resource.RLIMIT_CORE, 1)
    _lower(resource.RLIMIT_FSIZE, policy.disk_bytes)
    if sys.platform == "linux":
        _lower(resource.RLIMIT_RTPRIO, 0)
        _lower(resource.RLIMIT_NICE, 0)
        # the kernel counts signals that wait, and timers, of all processes of the user: the others keep half
        _lower(resource.RLIMIT_SIGPENDING, resource.getrlimit(resource.RLIMIT_SIGPENDING)[1] // 2)
    if policy.cpu_s:
        _lower(resource.RLIMIT_CPU, policy.cpu_s)
    # a GPU driver reserves much more memory than it uses
    if sys.platform == "linux" and policy.memory_bytes and not policy.gpu:
        _lower(resource.RLIMIT_DATA, policy.memory_bytes)
    if sys.platform == "linux" and policy.threads:
        _lower(resource.RLIMIT_NPROC, policy.threads + (BEYOND if counts_separately else _threads_of_user()))
    if policy.niceness:
        with contextlib.suppress(OSError):
            os.nice(policy.niceness)


def _threads_of_user() -> int:
    """Those that the kernel may count beside the run's own."""
    count = UNSEEN_THREADS
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += os.stat(f"/proc/{name}/task").st_nlink - 2
    return count


def _lower(limit: int, value: int) -> None:
    import resource

    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(limit)[1]
        if hard == resource.RLIM_INFINITY or value < hard:
            resource.setrlimit(limit, (value, value))
