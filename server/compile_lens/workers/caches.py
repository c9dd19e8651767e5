"""Private caches: a background run never reads or writes the caches of the user's own torch.

They hold code. What runs as the user's shell would never takes any that a run in the sandbox has written, and the sandboxed runs of one
workspace take none of another's.

Everything that can be made again lies in one folder, below a folder for its layout: a Compile Lens that lays it out otherwise
uses another, and what an older one left goes when nobody has used it for a month (workers/cache_limit.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

LAYOUT = "v1"
VARIABLE = "COMPILE_LENS_CACHE_DIR"

# what torch, triton and we keep there, by folder
CONTENTS = {
    "inductor": "compiled by torch in background runs",
    "triton": "compiled by Triton in background runs",
    "knowledge": "tables read from each installed torch",
    "keys": "cache keys of each file's last graphs",
    "stages": "stages of the compiler that an editor has opened",
    "traces": "findings of traces that were opened",
}
PARTS = tuple(CONTENTS)
# of runs without a sandbox
OWN = "own"
PRIVATE = 0o700
# of torch and Triton, and the folder of each
CACHE_VARIABLES = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}


def cache_base(environment: Mapping[str, str]) -> Path:
    """Where Compile Lens keeps what can be made again: ``COMPILE_LENS_CACHE_DIR``, or its folder in the platform's cache directory."""
    if chosen := environment.get(VARIABLE):
        return Path(chosen).absolute()
    from compile_lens.user_folders import cache_folder  # slow to import

    return cache_folder()


def temporary_cache(environment: Mapping[str, str]) -> dict[str, str]:
    """``environment`` with caches in a new temporary folder, for one whose own cannot be written."""
    from compile_lens.temporary_folders import new_folder  # rarely needed, and slow to import

    return {**environment, VARIABLE: new_folder()}


def cache_root(environment: Mapping[str, str]) -> Path:
    """The part of it that is laid out as this Compile Lens does."""
    return cache_base(environment) / LAYOUT


def private_cache_environment(environment: Mapping[str, str], sandboxed: str | None = None) -> dict[str, str]:
    """Variables that lead torch and triton to caches of ours, kept between runs for speed.

    ``sandboxed`` is the workspace of a run in the sandbox; None is for what runs without one.
    """
    root, owner = cache_root(environment), OWN if sandboxed is None else _owner(sandboxed)
    return {name: str(root / folder / owner) for name, folder in CACHE_VARIABLES.items()}


def keep_others_out(environment: Mapping[str, str]) -> None:
    """Close the caches to other users: a run may open its own to everybody, and what they put there would be loaded by the next one."""
    root = cache_root(environment)
    root.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):  # it is somebody else's
        if stat.S_IMODE(root.stat().st_mode) != PRIVATE:
            root.chmod(PRIVATE)


def make_private(folder: Path) -> None:
    """Make the cache of a run; one that an earlier run has closed to its own user is opened."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        if stat.S_IMODE(folder.stat().st_mode) & PRIVATE != PRIVATE:
            folder.chmod(PRIVATE)


def _owner(workspace: str) -> str:
    # links are resolved: two names of a folder are one workspace
    return f"sandboxed-{hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:16]}"
