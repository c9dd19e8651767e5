"""Asks git about a folder that somebody else may have filled: nothing is fetched, and no hook or monitor of theirs is started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compile_lens.workers.search_path import on_search_path
from compile_lens.workers.tied import tied

# git fetches what a partial clone lacks, with a program that the repository names: a revision is had from what is here
WITHOUT_FETCHING = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
WITHOUT_PROGRAMS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
# set in hooks of git: they name another repository than the one of the folder
OF_ONE_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")


def run_git(
    folder: Path, arguments: Sequence[str], *, of_folder: bool = False, timeout_s: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """What git says in ``folder``; ``of_folder``, of the repository there, whatever hook this runs in.

    Raises OSError where there is no git, ValueError for a null character, subprocess.TimeoutExpired.
    """
    command = [on_search_path("git") or "", *WITHOUT_PROGRAMS, "-C", str(folder), *arguments]
    left_out = OF_ONE_REPOSITORY if of_folder else ()
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return subprocess.run(
        command,
        env={**kept, **WITHOUT_FETCHING},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=timeout_s,
        **tied(),
    )
