"""Finds and opens trace files: alone, in folders of a job, compressed, or packed into an archive."""

from __future__ import annotations

import importlib
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any

from msgspec import Struct
from msgspec.structs import replace

from compile_lens.agent.runtime.regular_file import is_holes, open_regular
from compile_lens.late_pattern import pattern
from compile_lens.trace.archives import unpack
from compile_lens.trace.walked import files_below

GZIP = b"\x1f\x8b"
BZIP2, XZ = b"BZh", b"\xfd7zXZ\x00"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
LOG_PATTERNS = ("*.log", "*.log.gz", "*.log.zst")
PREFIX = "dedicated_log_torch_trace_"
# the copy of a trace that tlparse keeps in its output folder, beside its index
TLPARSE = "raw.log"
TLPARSE_INDEX = "compile_directory.json"
# in the place of what a compressed file has lost: a stretch that is no record
LOST = b"\n\0\n"
# a trace is packed to a tenth of its size or so; what claims much more would fill the disk
MOST_TIMES, ALWAYS_UNPACKED = 200, 1 << 28
CUT_ARCHIVE = "Incomplete: the archive is cut short here. Later files are missing."


# how a record begins, the first one of a trace too (trace/records.py)
RECORD, RECORD_SAMPLE = pattern(rb"[VDIWEC]\d{4} \d{2}:\d{2}:"), 16
RANK = pattern(r"rank_(\d+)")


class TraceError(Exception):
    """A trace cannot be opened; its text is one sentence for the user."""


class TraceFile(Struct, frozen=True):
    """One file of a trace. ``name`` is where it comes from: its path, or an archive's with the name inside. ``note``: what is wrong."""

    path: Path
    name: str
    note: str = ""


def trace_files(path: Path) -> tuple[Path, ...]:
    """The trace files at ``path``: itself, or those of a ``TORCH_TRACE`` folder, of the folders in it, or of what tlparse wrote.

    Raises TraceError.
    """
    if not path.exists():
        raise TraceError(f"{path}: no such file or folder.")
    if not path.is_dir():
        return (path,)
    patterns = [f"{PREFIX}{pattern}" for pattern in LOG_PATTERNS]
    found = sorted({file for pattern in patterns for file in path.glob(pattern)})
    if not found:
        inside = sorted(files_below(path))
        found = [file for file in inside if any(fnmatchcase(file.name, pattern) for pattern in patterns)]
        found = found or [f for f in inside if f.name == TLPARSE and os.path.isfile(f.with_name(TLPARSE_INDEX))]  # noqa: PTH113
    if not found:
        raise TraceError(f"{path} has no torch trace: no file {PREFIX}*.log.")
    return tuple(sorted(found, key=_rank_in_name))


def _rank_in_name(file: Path) -> tuple[str, int, str]:
    """Rank 10 comes after rank 9, on the same host."""
    found = RANK.search(file.name) or RANK.search(file.parent.name)
    return ("", int(found[1]), str(file)) if found else (str(file), -1, "")


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[TraceFile, ...]]:
    """The trace files at ``path`` (see ``trace_files``), for the block; those of an archive are unpacked first. Raises TraceError."""
    if not path.is_file() or not _is_archive(path):
        named = [(file, str(file)) for file in trace_files(path)]
        compressed = [file for file, _ in named if _is_compressed(file)]
        if len(compressed) < 2:  # it is unpacked when it is read
            yield tuple(TraceFile(*one) for one in named)
            return
        with _temporary_folder() as folder:
            yield tuple(_plain_files(named, folder, _Room(path, compressed)))
        return
    # imported late: most traces are plain files, and open faster without
    import tarfile
    import zlib

    with _temporary_folder() as folder:
        cut: BaseException | None = None
        room = _Room(path, [path])

        def is_wanted(member: tarfile.TarInfo) -> bool:
            if not _is_named_like_a_trace(member.name):
                return False
            # this may have a compression of its own, or files with holes
            room.take(member.size)
            return True

        content = folder / "content"
        try:
            with _unzipped(path) as data, tarfile.open(fileobj=data) as archive:
                unpack(archive, content, is_wanted)
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            cut = error  # what is before the damage is there
        try:
            files = trace_files(content)
        except TraceError:
            if cut is not None:
                raise TraceError(f"The archive {path} cannot be unpacked: {_why(cut)}.") from None
            raise TraceError(f"{path} has no torch trace: no file {PREFIX}*.log.") from None
        newest = max(files, key=lambda file: file.stat().st_ctime_ns)
        named = [(file, f"{path}/{file.relative_to(content).as_posix()}") for file in files]
        yield tuple(
            replace(one, note=CUT_ARCHIVE if cut is not None and file == newest else "")
            for file, one in zip(files, _plain_files(named, folder, room), strict=True)
        )


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    from compile_lens.temporary_folders import sweep, temporary_folder

    sweep()  # what a command that was killed has left
    with temporary_folder() as folder:
        yield Path(folder)


def _is_named_like_a_trace(name: str) -> bool:
    own = name.rpartition("/")[2]
    return own in (TLPARSE, TLPARSE_INDEX) or any(fnmatchcase(own, f"{PREFIX}{ending}") for ending in LOG_PATTERNS)


def _plain_files(files: Sequence[tuple[Path, str]], folder: Path, room: _Room) -> Iterator[TraceFile]:
    """``files``, each with its name; what is compressed is unpacked into ``folder``, all of it within ``room``. Raises TraceError."""
    import zlib

    for number, (file, name) in enumerate(files):
        plain = folder / f"plain-{number}"
        if not _is_compressed(file):
            yield TraceFile(file, name)
            continue
        try:
            with open_regular(file) as source, _decompressing(file, source) as packed, plain.open("wb") as target:
                _copy(packed, target, room)
            yield TraceFile(plain, name)
        except (TraceError, OSError, EOFError, zlib.error):
            if room.left < 0:
                raise
            yield TraceFile(file, name)  # told when it is read


def _is_archive(path: Path) -> bool:
    with suppress(OSError), open_regular(path) as file:
        # some files of the system answer with nothing
        if is_holes(os.fstat(file.fileno())) or RECORD.match(file.read(RECORD_SAMPLE) or b""):
            return False  # known without what reads archives, which takes longer to import than a small trace to read
    import tarfile
    import zlib

    try:
        with _unzipped(path) as data:
            head = data.read(tarfile.BLOCKSIZE) or b""
            if head.startswith((BZIP2, XZ)):
                data.seek(0)
                return tarfile.is_tarfile(data)
            tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
            return True
    except tarfile.HeaderError:
        return False
    except (OSError, EOFError, zlib.error):  # told when it is read as what it seems to be
        return False


def mapped(path: Path) -> bytes | mmap.mmap:
    """The bytes of one trace file, memory-mapped; what is compressed is unpacked to an unnamed temporary file first. Raises TraceError."""
    if not path.is_file():  # a device or a pipe may never end
        raise TraceError(f"{path} is not a torch trace.")
    import zlib

    try:
        with _unzipped(path) as source:
            if is_holes(os.fstat(source.fileno())):
                raise TraceError(f"{path} consists of holes, so it is not a torch trace.")
            return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) if source.seek(0, 2) else b""
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"The trace {path} cannot be read: {_why(error)}.") from None


@contextmanager
def _unzipped(path: Path) -> Iterator[IO[bytes]]:
    """``path`` without its compression, at its beginning. The map of a temporary file outlives it, and it has no name to leave behind."""
    if not _is_compressed(path):
        with open_regular(path) as file:
            yield file
        return
    import tempfile

    with open_regular(path) as file, tempfile.TemporaryFile() as plain:
        with _decompressing(path, file) as packed:
            _copy(packed, plain, _Room(path, [path]))
        plain.flush()
        plain.seek(0)
        yield plain


def _is_compressed(path: Path) -> bool:
    with suppress(OSError):
        if path.is_file():  # a pipe may never begin
            with open_regular(path) as file:
                return file.read(len(ZSTANDARD)).startswith((GZIP, ZSTANDARD))
    return False


def _decompressing(path: Path, file: IO[bytes]) -> Any:
    """``file`` without its compression. Raises TraceError."""
    import gzip

    is_gzip = file.read(len(GZIP)) == GZIP
    file.seek(0)
    return gzip.open(file) if is_gzip else _zstandard(path, file)


def _copy(packed: Any, plain: IO[bytes], room: _Room) -> None:
    """Unpack a file: if it is cut or damaged, what comes before. Raises if that is nothing, or too much."""
    import zlib

    try:
        # `read` would drop what comes just before the damage
        while piece := packed.read1(1 << 20):
            room.take(len(piece))
            plain.write(piece)
    except (OSError, EOFError, zlib.error):
        if not plain.tell():
            raise
        plain.write(LOST)


class _Room:
    """Bytes to which ``files``, which are what is opened as ``path``, may unpack, all of them together."""

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self._path = path
        self.left = max(ALWAYS_UNPACKED, MOST_TIMES * sum(file.stat().st_size for file in files))

    def take(self, size: int) -> None:
        """Raises TraceError if there is no room for ``size`` more."""
        self.left -= size
        if self.left < 0:
            raise TraceError(
                f"{self._path} unpacks to more than {MOST_TIMES} times its size, so it is not a torch trace."
            )


def _zstandard(path: Path, file: IO[bytes]) -> Any:
    """Python has Zstandard since 3.14; before, a package of that name. Raises TraceError."""
    for module, function in (("compression.zstd", "open"), ("zstandard", "open")):
        try:
            return getattr(importlib.import_module(module), function)(file, "rb")
        except ImportError:
            continue
    raise TraceError(f"{path} is compressed with Zstandard: unpack it first, or install the package `zstandard`.")


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or f"{error}".rstrip(".")
