"""Asks git about a folder that somebody else may have filled: nothing is fetched, no hook or monitor of theirs is started, and no answer
is endless."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from compile_lens.workers.loaded_before import COMMANDS, without
from compile_lens.workers.search_path import lies_in, on_search_path
from compile_lens.workers.tied import tied

# git fetches what a partial clone lacks, with a program that the repository names: a revision is had from what is here
WITHOUT_FETCHING = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
# a clone may have files that look like a repository of their own, with a configuration that names filters
WITHOUT_PROGRAMS = (
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "safe.bareRepository=explicit"),
)
# variables of git, which hooks and a folder's own settings have, name another repository, index or configuration, change what paths mean,
# or have files written: only these stay, by which filters of the user's reach a server
VARIABLES_OF_GIT = "GIT_"
# where its settings of the user's are
OF_SETTINGS = ("HOME", "XDG_CONFIG_HOME")
KEPT_VARIABLES = ("GIT_SSH", "GIT_ASKPASS", "GIT_SSL_", "GIT_PROXY_", "GIT_LFS_")
# a few kilobytes of a repository unpack to any size: trees may have the same tree many times
LONGEST_ANSWER, LONGEST_WAIT_S = 1 << 30, 120.0
CHUNK = 1 << 20


class EndlessAnswerError(Exception):
    """The answer is longer than the limit, or takes longer; its text is a clause that says which."""


def repositories_around(folder: Path) -> tuple[Path, ...]:
    """The folders with a ``.git`` from ``folder``, which contains no links, upwards. Git tracks none of that name: none came with a clone.

    Older versions of git would begin with any folder that looks like a repository without files.
    """
    return tuple(place for place in (folder, *folder.parents) if os.path.lexists(place / ".git"))


def run_git(
    root: Path,
    arguments: Sequence[str],
    *,
    longest: int = LONGEST_ANSWER,
    timeout_s: float = LONGEST_WAIT_S,
) -> subprocess.CompletedProcess[bytes]:
    """What git says of the repository at ``root``, see `repositories_around`, whatever hook this runs in.

    A git that lies in that repository, in one around it, or in that of the current folder, is none, nor does it load libraries or start
    programs from there that a variable names.

    Raises OSError where there is no git, ValueError for a null character, EndlessAnswerError.
    """
    repositories = {*repositories_around(Path(os.path.realpath(root))), *_repositories_here()}

    def is_theirs(place: Path) -> bool:
        return lies_in(place, repositories)

    command = [on_search_path("git", is_theirs) or "", *WITHOUT_PROGRAMS, "-C", str(root), *arguments]
    kept = {
        name: value
        for name, value in os.environ.items()
        if _is_kept(name.upper()) and not _is_of_it(name, value, is_theirs)
    }
    overdue = threading.Event()
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            command,
            env={**_set({**kept, **without(kept, is_theirs, keeps_relative=False)}), **WITHOUT_FETCHING},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            **tied(new_session=True),
        ) as process,
    ):

        def end() -> None:
            overdue.set()
            _end(process)

        waits = threading.Timer(timeout_s, end)
        waits.start()
        try:
            answer = b"".join(_up_to(longest, process.stdout))
            if len(answer) > longest:
                _end(process)
            code = process.wait()
        finally:
            waits.cancel()
            if process.returncode is None:
                _end(process)
        if overdue.is_set():
            raise EndlessAnswerError(f"git takes more than {timeout_s:.0f} s")
        if len(answer) > longest:
            raise EndlessAnswerError(f"it has more than {longest >> 20:,} MB")
        said.seek(0)
        return subprocess.CompletedProcess(command, code, answer, said.read())


def _repositories_here() -> tuple[Path, ...]:
    try:
        return repositories_around(Path(os.path.realpath(Path.cwd())))
    except OSError:  # it is deleted
        return ()


def _is_of_it(variable: str, value: str, is_theirs: Callable[[Path], bool]) -> bool:
    """Whether it names the folder of git's settings in the repository, whose settings may name programs; relatively, it does."""
    return variable in OF_SETTINGS and (not Path(value).is_absolute() or is_theirs(Path(value)))


def _set(variables: Mapping[str, str]) -> dict[str, str]:
    """``variables`` without those that git would take for the empty name of a program."""
    return {name: value for name, value in variables.items() if value or not COMMANDS.search(name)}


def _is_kept(variable: str) -> bool:
    return variable.startswith(KEPT_VARIABLES) or not variable.startswith(VARIABLES_OF_GIT)


def _up_to(longest: int, stream: IO[bytes] | None) -> Iterator[bytes]:
    """What ``stream`` has, and a little more than ``longest`` at most."""
    assert stream is not None
    while longest >= 0 and (part := stream.read(CHUNK)):
        longest -= len(part)
        yield part


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git, and what it has started: that may have its output, too."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
