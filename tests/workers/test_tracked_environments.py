"""An answer about an environment is kept only until git tracks something else, wherever its index is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compile_lens.workers.tracked_environment import is_tracked


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "train.py").touch()
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def plain(folder: Path) -> Path:
    return repository(folder / "plain")


def worktree(folder: Path) -> Path:
    git(repository(folder / "plain"), "worktree", "add", "--quiet", "../tree")
    return folder / "tree"


def submodule(folder: Path) -> Path:
    around = repository(folder / "around")
    git(around, "submodule", "--quiet", "add", str(repository(folder / "plain")), "part")
    return around / "part"


@pytest.mark.parametrize("made", [plain, worktree, submodule])
def test_what_git_begins_to_track_is_seen(tmp_path: Path, made: object) -> None:
    assert callable(made)
    folder = made(tmp_path)
    place = folder / ".venv" / "lib" / "other.pth"
    place.parent.mkdir(parents=True)
    place.touch()
    assert not is_tracked(folder, folder / ".venv")
    git(folder, "add", "--force", str(place))
    assert is_tracked(folder, folder / ".venv")
    git(folder, "rm", "--quiet", "--cached", str(place))
    assert not is_tracked(folder, folder / ".venv")
