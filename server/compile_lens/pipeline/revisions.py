"""The files of a git revision, as folders beside those of the working tree."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.temporary_folders import sweep, temporary_folder
from compile_lens.trace.archives import unpack
from compile_lens.workers.git import LONGEST_ANSWER, EndlessAnswerError, repositories_around, run_git
from compile_lens.workers.job import Job

# of the names of all files: a million of them
LONGEST_NAMES = 1 << 26


class RevisionError(Exception):
    """A revision cannot be had; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Revision:
    """``folder`` has the tracked files of the repository at ``root``, as they were."""

    name: str
    root: Path
    folder: Path

    def path_of(self, file: str) -> Path:
        """Where ``file`` of the working tree is in the revision; ``file`` itself if it is not in the repository."""
        relative = os.path.relpath(file, self.root)
        return Path(file) if relative.startswith("..") else self.folder / relative

    def import_roots(self) -> list[Path]:
        """The folders that an installation in editable mode would import from."""
        if not any((self.folder / name).exists() for name in ("pyproject.toml", "setup.py", "setup.cfg")):
            return []
        return [folder for folder in (self.folder / "src", self.folder) if folder.is_dir()]


def job_at(job: Job, found: Revision) -> Job | None:
    """``job`` as it was in a revision, or None if its file was not there."""
    file = found.path_of(job.file)
    if not file.is_file() or file.samefile(job.file):
        return None
    # a package that is installed in editable mode would be imported from the working tree
    path = os.pathsep.join([*map(str, found.import_roots()), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**job.env, "PYTHONPATH": path} if path else job.env
    return replace(job, file=str(file), cwd=str(found.path_of(job.cwd or str(file.parent))), env=environment)


def commit_of(name: str, near: Path) -> str:
    """The commit that ``name`` is now, in the repository around ``near``. Raises RevisionError."""
    root = _root(near)
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", absent=name)
    return found.decode().split()[-1]


@contextmanager
def revision(name: str, near: Path) -> Iterator[Revision]:
    """Unpack the revision ``name`` of the repository around ``near`` into a temporary folder. Raises RevisionError."""
    root = _root(near)
    _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", absent=name)
    # to archive it, git would hold all of them
    _git(root, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", name, absent=name, longest=LONGEST_NAMES)
    # its tree: of a commit, texts may ask for its signature (export-subst in gitattributes(5)), and git would start what checks it
    packed = _git(root, "archive", "--format=tar", "--end-of-options", f"{name}^{{tree}}", absent=name)
    sweep()  # what a command that was killed has left
    with temporary_folder() as made:
        # the name of the folder stays what it is: programs are named by it
        folder = Path(made, root.name)
        try:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                unpack(archive, folder, with_links=True)
        except (OSError, tarfile.TarError) as error:  # a name may be too long for this system
            why = getattr(error, "strerror", None) or error
            raise RevisionError(f"'{name}' cannot be unpacked ({why}).") from None
        yield Revision(name, root, folder)


def _root(near: Path) -> Path:
    at = Path(os.path.realpath(near if near.is_dir() else near.parent))
    found = repositories_around(at)
    if not found:
        raise RevisionError(f"{at} is not in a git repository.")
    return found[0]


def _git(folder: Path, *arguments: str, absent: str = "", longest: int = LONGEST_ANSWER) -> bytes:
    try:
        done = run_git(folder, arguments, longest=longest)
    except EndlessAnswerError as error:
        raise RevisionError(f"'{absent or folder}' is too large to be compared: {error}.") from None
    except ValueError:  # a null character
        raise RevisionError(f"'{absent}' is not a revision of the repository {folder}.") from None
    except OSError:
        raise RevisionError("git is not installed, so revisions cannot be compared.") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else "unknown to git"
        if absent:
            raise RevisionError(f"'{absent}' is not a revision of the repository {folder} ({why}).")
        raise RevisionError(f"{folder} is not in a git repository ({why}).")
    return done.stdout
