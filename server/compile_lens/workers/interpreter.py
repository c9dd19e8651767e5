"""Finds the Python that runs the user's file: the nearest one that has torch."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.late_pattern import pattern
from compile_lens.workers.followed_links import links_on
from compile_lens.workers.project_environments import environments_of, python_of
from compile_lens.workers.search_path import on_search_path
from compile_lens.workers.tracked_environment import is_brought, is_tracked

Stamp = tuple[tuple[str, int, int], ...]
VERSION = pattern(r"__version__ = '([^']+)'")


class InterpreterError(Exception):
    """No interpreter can be used; its text is one sentence for the user."""


def cannot_start(python: str, error: OSError) -> str:
    """What to tell the user when ``python`` did not start."""
    return f"{python} cannot be started: {error.strerror or error}."


def no_torch_within(python: str, seconds: float) -> str:
    """What to tell the user when ``python`` started, and importing torch took too long."""
    return f"{python} did not import torch within {seconds:.0f} seconds."


def cannot_analyze(python: str, output: str) -> str:
    """What to tell the user when ``python`` started, and the agent did not; the last line of ``output`` says why."""
    last = output.strip().rpartition("\n")[2]
    return f"{python} cannot run the analysis: {last or 'it printed nothing'}"


def about_tracked(python: str) -> str:
    """What to tell the user where ``python`` is left out, because a repository brought it, or may have."""
    return (
        f"{python} was not used, because git tracks it, or cannot say whether it does. "
        "To use it anyway, choose it with --python or the setting compileLens.python."
    )


def find_interpreter(file: Path, roots: Sequence[Path] = (), explicit: str | None = None) -> str:
    """The absolute path of the interpreter for ``file``.

    In this order: ``explicit``; the active virtual or conda environment; an environment of a folder above the file (venv, uv, conda, pixi,
    poetry), up to the workspace root that holds it, unless git tracks it; the interpreter that runs Compile Lens, if torch is installed
    beside it; ``python3`` on the path.

    Raises InterpreterError when ``explicit`` is no program, or nothing is found.
    """
    if explicit:
        expanded = os.path.expanduser(explicit)  # noqa: PTH111 - may be a bare name, for the search path
        found = shutil.which(expanded) if os.path.dirname(expanded) else _on_search_path(expanded)  # noqa: PTH120
        if found is None:
            raise InterpreterError(f"There is no Python interpreter at '{explicit}'.")
        return os.path.abspath(found)  # noqa: PTH100 - a link must stay one: it is what makes a virtual environment
    for candidate in _candidates(file, roots):
        if candidate.is_file() and _has_torch(candidate):
            return str(candidate)
    for candidate in _candidates(file, roots):
        if candidate.is_file():
            return str(candidate)
    raise InterpreterError("No Python interpreter was found. Set one with --python or the setting compileLens.python.")


def _candidates(file: Path, roots: Sequence[Path]) -> Iterator[Path]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        # a relative one would be in the current folder, which is often a workspace
        if (prefix := os.environ.get(variable)) and os.path.isabs(prefix):  # noqa: PTH117
            yield python_of(Path(prefix))
    for folder, environment in _environments_around(file, roots):
        if not is_tracked(folder, environment):
            yield python_of(environment)
    yield Path(sys.executable)
    for name in ("python3", "python"):
        if found := _on_search_path(name):
            yield Path(found)


def _on_search_path(name: str) -> str | None:
    """An environment of a workspace that is on the search path is used as others are: unless the repository brought it."""
    return on_search_path(name, _is_of_a_repository)


def _is_of_a_repository(program: Path) -> bool:
    # beside it may be programs of others, as where an installer is itself a repository
    if is_brought(program):
        return True
    environment = program.parent.parent
    is_environment = any((environment / name).exists() for name in ("pyvenv.cfg", "conda-meta"))
    return is_environment and is_tracked(environment.parent, environment)


def tracked_interpreters(file: Path, roots: Sequence[Path] = ()) -> Iterator[str]:
    """The interpreters that `find_interpreter` leaves out because a repository brought them, up to the one that it would take."""
    for folder, environment in _environments_around(file, roots):
        if is_tracked(folder, environment):
            yield str(python_of(environment))
        elif _has_torch(python_of(environment)):
            return


def _environments_around(file: Path, roots: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """The environments of the folders above ``file``, each with its folder."""
    for folder in _folders_up(file, roots):
        for environment in environments_of(folder):
            if python_of(environment).is_file() and not _is_of_others(folder, environment):
                yield folder, environment


def _is_of_others(folder: Path, environment: Path) -> bool:
    """Whether another user has made ``environment`` in a ``folder`` where anybody may, such as /tmp: it would run as this one.

    Or a folder or a link on the way to it, or to its interpreter: a link of theirs may lead to where anybody may put one.
    """
    if sys.platform == "win32":
        return False
    try:
        if not folder.stat().st_mode & stat.S_IWOTH:
            return False
        python = python_of(environment)
        on_the_way = (python, *python.parents[: len(python.parts) - len(folder.parts) - 1])
        real = Path(os.path.realpath(python))
        led_to = (place for place in (real, *real.parents) if place.parent.stat().st_mode & stat.S_IWOTH)
        return any(
            place.lstat().st_uid not in (0, os.getuid()) for place in (*on_the_way, *links_on(str(python)), *led_to)
        )
    except OSError:
        return False  # there is none


def _folders_up(file: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """The folders from the file's up to its workspace root; without a root, up to the top."""
    stop = {root.absolute() for root in roots}
    for folder in file.absolute().parents:
        yield folder
        if folder in stop:
            return


def torch_version(python: str) -> str | None:
    """The version of torch that is installed in ``python``, or None if none is found on disk."""
    site = site_with_torch(Path(python))
    if site is None:
        return None
    try:
        found = VERSION.search(read_regular_text(site / "torch" / "version.py"))
    except OSError:  # a checkout that has not been built
        return None
    return found.group(1) if found else None


def _has_torch(python: Path) -> bool:
    return site_with_torch(python) is not None


def site_with_torch(python: Path) -> Path | None:
    """The site-packages of ``python`` that has torch; looked up on disk, since starting it would take a second."""
    if python == Path(sys.executable):
        sites = (Path(entry) for entry in sys.path if "site-packages" in entry)
        return next((site for site in sites if _holds_torch(site)), None)
    # on Windows, an installation and a conda environment have it at the top
    own = python.parent if (python.parent / "Lib").is_dir() else python.parent.parent
    for prefix in dict.fromkeys((own, python.resolve().parent.parent)):
        for place in ("lib/python3.*/site-packages", "Lib/site-packages", "lib/python3/dist-packages"):
            for site in prefix.glob(place):
                if _holds_torch(site):
                    return site
        if prefix == own and (prefix / "pyvenv.cfg").is_file():
            config = read_regular_text(prefix / "pyvenv.cfg").lower()
            if "include-system-site-packages = true" not in config:
                return None
    return None


def _holds_torch(site: Path) -> bool:
    return (site / "torch" / "__init__.py").is_file()


def installation_stamp(python: str, library_roots: Iterable[str]) -> Stamp:
    """What changes when the interpreter, its environment or its packages do: times and numbers of a few files and folders.

    A package that is installed, updated or removed changes the folder that holds it; one installed as a link to its source is the
    user's code, which each run reads anew.
    """
    executable = Path(python)
    places = [executable, executable.resolve(), executable.parent.parent / "pyvenv.cfg"]
    for root in library_roots:
        folder = Path(root)
        places += [folder, folder / "torch" / "version.py", folder / "version.py"]
        with contextlib.suppress(OSError):
            places += sorted(folder.glob("*.pth"))
    found: list[tuple[str, int, int]] = []
    for place in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            status = place.stat()
            found.append((str(place), status.st_mtime_ns, status.st_ino))
    return tuple(found)
