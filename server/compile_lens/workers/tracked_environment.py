"""Whether a repository brought an environment: git tracks its interpreter, another file in it, or a link that leads to it."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.workers.followed_links import links_on
from compile_lens.workers.git import EndlessAnswerError, repositories_around, run_git
from compile_lens.workers.project_environments import python_of
from compile_lens.workers.search_path import on_search_path

# git answers within milliseconds, unless its own files are no ordinary ones
LONGEST_ANSWER_S = 5.0
# these keep a folder that is empty otherwise
KEEPS_A_FOLDER = (".gitignore", ".gitkeep", ".gitattributes")
AS_IT_IS = ":(icase,literal)"
# what a file `.git` begins with
NAMES_FOLDER = "gitdir:"
Stamp = tuple[int, int] | None


def is_tracked(folder: Path, environment: Path) -> bool:
    """Whether the repository around ``folder`` brought the ``environment`` there. False where there is no git to tell.

    True where git cannot tell: what it fails at, or takes long for, may be the repository's own choice.
    """
    around = Path(os.path.realpath(folder))
    real = around / environment.relative_to(folder) if environment.is_relative_to(folder) else environment.absolute()
    roots = repositories_around(real)
    changing = (real, python_of(real), *(place for root in roots for place in _indexes(root)))
    if not roots or on_search_path("git") is None:
        return False
    try:
        return _is_tracked(roots, real, tuple(map(_stamp, changing)))
    except (OSError, ValueError, EndlessAnswerError):  # not kept: the next answer may be another one
        return True


def is_brought(place: Path) -> bool:
    """Whether a repository brought the absolute ``place``, a file or folder: that itself, something below, or a link that leads to it."""
    real = Path(os.path.realpath(place))
    return is_tracked(Path(place.anchor), place) or is_tracked(real.parent, real)


def _indexes(root: Path) -> tuple[Path, ...]:
    """What changes when the repository at ``root`` begins to track something: its index, and where it says that this is.

    In a linked worktree and in a submodule, ``.git`` is a file that names the folder of the index (gitrepository-layout(5)).
    """
    marker = root / ".git"
    try:
        said = read_regular_text(marker).strip()
    except (OSError, ValueError):  # a folder, as most are
        return (marker / "index",)
    return marker, root / said.removeprefix(NAMES_FOLDER).strip() / "index"


@functools.lru_cache(256)
def _is_tracked(roots: tuple[Path, ...], environment: Path, _when: tuple[Stamp, ...]) -> bool:
    """``roots`` are the repositories around the environment, the innermost first: it may be a submodule of the next."""
    python = python_of(environment)
    places = [environment, Path(os.path.realpath(python)), *links_on(str(python))]
    return any(
        _tracks(root, {place: place.relative_to(root) for place in places if place.is_relative_to(root)})
        for root in roots
    )


def _tracks(root: Path, places: Mapping[Path, Path]) -> bool:
    """Whether the repository at ``root`` tracks one of ``places``, which have their paths in it, or a file below one."""
    # in either case of letters, which the file system may not tell apart
    asked = [AS_IT_IS + path.as_posix() for path in places.values()]
    # the repository may be another user's, as in a container: of what its configuration names, listing files starts nothing
    arguments = ["-c", "safe.directory=*", "ls-files", "-z", "--", *asked]
    answer = run_git(root, arguments, timeout_s=LONGEST_ANSWER_S)
    if answer.returncode:
        raise OSError(os.fsdecode(answer.stderr))
    listed = answer.stdout
    for name in filter(None, listed.split(b"\0")):
        tracked = PurePosixPath(os.fsdecode(name))
        if tracked.name not in KEEPS_A_FOLDER and any(
            _is_same(root.joinpath(*tracked.parts[: len(path.parts)]), place) for place, path in places.items()
        ):
            return True
    return False


def _is_same(tracked: Path, place: Path) -> bool:
    return tracked == place or _stamp(tracked) == _stamp(place) is not None


def _stamp(place: Path) -> Stamp:
    try:
        status = place.lstat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
