"""Private scratch folders of searches: removed at the end, or by the next search if their process was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.caches import cache_root
from compile_lens.workers.host import HostError

FOLDER = "searches"


@contextlib.contextmanager
def scratch_folder(environment: Mapping[str, str] | None = None) -> Iterator[Path]:
    """A new folder in the cache of Compile Lens. Folders of killed processes are removed first. Raises HostError."""
    given = os.environ if environment is None else environment
    problem = find_cache_problem(cache_root(given))
    if problem is not None:
        raise HostError(str(problem))
    root = cache_root(given) / FOLDER
    root.mkdir(parents=True, exist_ok=True)
    sweep(root)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            root.rmdir()


def sweep(root: Path) -> None:
    """Remove the folders of processes that no longer exist."""
    for folder in root.iterdir():
        pid = folder.name.partition("-")[0]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
