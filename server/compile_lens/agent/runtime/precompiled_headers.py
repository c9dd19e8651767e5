"""Where Inductor keeps precompiled headers: torch takes its *default* cache directory, which is the user's, whatever it is told.

They take a quarter of a minute and 150 MB, and trying out vector units takes as long, so runs in the sandbox share what only the standby
makes, by links that they cannot write through. torch/_inductor/codecache.py, torch 2.9 to 2.13.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

from ..torch_internals.inductor import HEADER_FOLDER, HEADER_LOCKS
from . import atomic_compiler_output, own_compilers, processes, vector_units

# where it is not 0, torch starts interpreters that compile for Triton, and import what the program would
WARM_POOL = "TORCH_WARM_POOL"
FOLDER = "precompiled_headers"
# beside the caches of runs without a sandbox
SHARED = "shared"
# in there, of compilers that have not ended
UNFINISHED = "unfinished"
# found by their content (torch/_inductor/codecache.py, ``get_path``; torch/_inductor/cpu_vec_isa.py)
HEX_FOLDER_LENGTH = 2
# a run without them makes them itself, and takes as long
LIMIT_S = 120.0
_tried = False


def keep_private() -> bool:
    """Keep them below ``TORCHINDUCTOR_CACHE_DIR`` instead. False where this torch has no such place, or nothing is set."""
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not cache:
        return False
    folder = os.path.join(cache, FOLDER)
    return HEADER_FOLDER.set(folder) and HEADER_LOCKS.set(os.path.join(folder, "locks"))


def make_shared(commands: int, places: tuple[str, ...]) -> None:
    """Make what all runs share, once, where it can be, for a program whose folders are ``places``. Ends early if ``commands`` has any.

    A child compiles a function of ours, so that no program has a hand in what another one's compiler reads.
    """
    global _tried
    folder = _folder()
    if folder and not _tried and not _compiled(folder) and not own_compilers.why_not_compile(places):
        _tried = True
        _compile_in_child(folder, commands, own_compilers.variables(places))


def shared_folder() -> str:
    """The folder of what was made; '' for none."""
    folder = _folder()
    return folder if folder and _compiled(folder) else ""


def _folder() -> str:
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    return os.path.join(os.path.dirname(cache), SHARED) if cache and HEADER_FOLDER.get("") else ""


def share(folder: str) -> None:
    """Let Inductor find what is in ``folder`` in the cache of this run, which must be in its sandbox by now."""
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not folder or not cache:
        return
    with contextlib.suppress(OSError):  # what an earlier run made of the place is its own loss
        for name in os.listdir(folder):
            if name == FOLDER or len(name) == HEX_FOLDER_LENGTH:
                _link(os.path.join(folder, name), os.path.join(cache, name))
    vector_units.recall(folder)


def _link(source: str, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    for entry in os.scandir(source):
        link = os.path.join(target, entry.name)
        if entry.is_file() and not os.path.lexists(link):
            os.symlink(entry.path, link)


def _compiled(folder: str) -> bool:
    """Whether a header is compiled there, and the vector units are known."""
    try:
        headers = os.listdir(os.path.join(folder, FOLDER))
    except OSError:
        return False
    return vector_units.is_recorded(folder) and any(name.endswith(".gch") for name in headers)


def _compile_in_child(cache: str, commands: int, variables: dict[str, str]) -> None:
    reading, writing = os.pipe()
    child = processes.fork()
    if child == 0:
        _be_child(cache, variables)
    os.close(writing)
    with open(reading, "rb") as ended:
        deadline = time.monotonic() + LIMIT_S
        # the pipe is closed by the child's end
        select.select([ended.fileno(), commands], [], [], max(0.0, deadline - time.monotonic()))
    processes.end_tree(child)


def _be_child(cache: str, variables: dict[str, str]) -> None:
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ.update({**variables, "TORCHINDUCTOR_CACHE_DIR": cache, WARM_POOL: "0"})
        keep_private()
        vector_units.record(cache)
        import torch

        with atomic_compiler_output.installed(os.path.join(cache, UNFINISHED)):
            torch.compile(lambda x: x.sin() + 1, backend="inductor")(torch.zeros(8))
        sys.stdout.flush()
    finally:
        os._exit(0)
