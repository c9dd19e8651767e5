"""Extracts the tables of an installed torch, in that torch's interpreter, once per version, into the cache.

Extraction imports torch and reads torch's own source; no file of the user's is opened. It runs the user's *interpreter* all the
same, so an editor asks for it only where files may run.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.late_pattern import pattern
from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.caches import cache_root, private_cache_environment
from compile_lens.workers.host import BOOT, NEUTRAL_FOLDER
from compile_lens.workers.import_path import fixed
from compile_lens.workers.interpreter import cannot_start
from compile_lens.workers.tied import tied

TIME_LIMIT_S = 600.0
# what would change the defaults of torch's options while they are read
_CHANGES_DEFAULTS = pattern(r"(?:PY)?TORCH|TRITON|INDUCTOR|AOT|DYNAMO|FAKE_|FX_|CI$")
_TABLE_READ = pattern(r"(\w+) (\d+)/(\d+)")
_VERSION = pattern(r"^__version__\s*(?::[^=]*)?=\s*['\"]([^'\"]+)", re.MULTILINE)


class ExtractionError(Exception):
    """No tables could be made; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class InstalledTorch:
    """A torch that was found on disk. ``folder`` is the package's."""

    python: str
    version: str
    folder: Path


def find_torch(python: str) -> InstalledTorch | None:
    """The torch of an interpreter, looked up on disk; None when it is not where packages usually are."""
    for site in _site_packages(python):
        try:
            text = read_regular_text(site / "torch" / "version.py")
        except OSError:
            continue
        match = _VERSION.search(text)
        if match is not None:
            return InstalledTorch(python, match.group(1), site / "torch")
    return None


def _site_packages(python: str) -> list[Path]:
    path = Path(python)
    found = [Path(entry) for entry in sys.path if "site-packages" in entry] if python == sys.executable else []
    for prefix in dict.fromkeys((path.parent.parent, path.resolve().parent.parent)):
        for place in ("lib/python3.*/site-packages", "Lib/site-packages", "lib/python3/dist-packages"):
            found += sorted(prefix.glob(place))
    return found


def cached_tables(torch: InstalledTorch, environment: Mapping[str, str] | None = None) -> Path | None:
    """The file with the tables of ``torch``, if they were extracted before and are whole."""
    path = table_path(torch, os.environ if environment is None else environment)
    try:
        status = path.stat()
    except OSError:
        return None
    return path if _is_whole(path, status.st_mtime_ns, status.st_size) else None


@lru_cache(maxsize=64)
def _is_whole(path: Path, changed: int, size: int) -> bool:
    """Whether every table in the archive is what was written; asked again when the file changes."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return False


def table_path(torch: InstalledTorch, environment: Mapping[str, str]) -> Path:
    """One file per torch: its version, its place, when it was installed, and the code that reads it."""
    root = cache_root(environment)
    with contextlib.suppress(OSError):
        stamp = (torch.folder / "version.py").stat().st_mtime_ns
        key = hashlib.sha256(f"{_code_of_extraction()}\n{torch.folder}\n{stamp}".encode()).hexdigest()[:12]
        return root / "knowledge" / f"torch-{torch.version}-{key}.zip"
    return root / "knowledge" / f"torch-{torch.version}.zip"


@cache
def _code_of_extraction() -> str:
    """What changes when the extraction does: tables of an older Compile Lens are made again."""
    code = hashlib.sha256()
    for file in sorted((BOOT.parent / "tables").glob("*.py")):
        code.update(file.read_bytes())
    return code.hexdigest()


async def extract_tables(
    torch: InstalledTorch,
    environment: Mapping[str, str] | None = None,
    on_table: Callable[[str, int, int], None] = lambda kind, done, of: None,
) -> Path:
    """The tables of ``torch``, from the cache or read now. Raises ExtractionError; canceling ends the process.

    ``on_table`` is given the kind of each table that was read, how many were, and how many there are. What was read before the end is
    kept: the next extraction goes on from there.
    """
    given = dict(os.environ if environment is None else environment)
    path = table_path(torch, given)
    if cached_tables(torch, given) is not None:
        return path
    problem = find_cache_problem(cache_root(given))
    if problem is not None:
        raise ExtractionError(str(problem))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        process = await asyncio.create_subprocess_exec(
            torch.python,
            str(BOOT),
            "tables",
            str(path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(given),
            cwd=NEUTRAL_FOLDER,
            **tied(new_session=True),  # whose priority it sets
        )
    except OSError as error:
        raise ExtractionError(cannot_start(torch.python, error)) from None
    assert process.stdout is not None and process.stderr is not None
    complaints = asyncio.create_task(process.stderr.read())
    try:
        await asyncio.wait_for(_report(process.stdout, on_table), TIME_LIMIT_S)
        errors = await complaints
        await process.wait()
    except TimeoutError:
        raise ExtractionError(
            f"{torch.python} did not read torch {torch.version} within {TIME_LIMIT_S:.0f} s."
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        complaints.cancel()
        await asyncio.gather(complaints, return_exceptions=True)
    if process.returncode or not path.is_file():
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ExtractionError(
            f"The tables of torch {torch.version} could not be read: {last or f'exit code {process.returncode}'}."
        )
    return path


async def _report(output: asyncio.StreamReader, on_table: Callable[[str, int, int], None]) -> None:
    """Call ``on_table`` for each line ``code 4/19``. Something that torch imports may print other lines."""
    async for line in output:
        match = _TABLE_READ.fullmatch(line.decode("utf-8", "replace").strip())
        if match is not None:
            on_table(match.group(1), int(match.group(2)), int(match.group(3)))


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in given.items() if not _CHANGES_DEFAULTS.match(name)}
    return {**kept, **private_cache_environment(given), **fixed(given)}
