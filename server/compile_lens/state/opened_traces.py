"""Keeps what was found in traces, so that a trace that was opened before opens at once.

What is kept is used only if the trace, the user's files that its findings are in, and this Compile Lens are the same.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct

import compile_lens
from compile_lens.agent.runtime.regular_file import open_regular
from compile_lens.state.atomic_file import write_atomically
from compile_lens.trace.walked import files_below

# of a file's beginning and its end: what a run writes differs there
SAMPLE = 1 << 16
Stamps = tuple[tuple[str, int, int], ...]


class OpenedTraces:
    """One file for each trace and the options it was opened with."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def recall(self, trace: Path, options: tuple[object, ...]) -> Any:
        """What ``remember`` was given for the same trace and options; None if it is not known, or no longer true."""
        place = self._place(trace, options)
        try:
            with open_regular(place) as file:
                state, looked = _Unpickler(file).load()
                if state != _state(trace) or looked != _stamps(path for path, _, _ in looked):
                    return None
                found = _Unpickler(file).load()
            os.utime(place)
        except (
            OSError,
            EOFError,
            pickle.UnpicklingError,
            ImportError,
            AttributeError,
            ValueError,
            TypeError,
            LookupError,
        ):
            return None  # not there, cut, or of another version: it is made anew
        return found

    def remember(self, trace: Path, options: tuple[object, ...], looked: Iterable[str], found: object) -> None:
        """Keep what was found in ``trace``, which also depends on the files ``looked`` for. Nothing is kept if it cannot be."""
        content = io.BytesIO()
        try:
            pickle.dump((_state(trace), _stamps([*looked, *_own_code()])), content, protocol=5)
            pickle.dump(found, content, protocol=5)
            write_atomically(self._place(trace, options), content.getvalue())
        except OSError:
            return  # a cache that cannot be written makes the next opening slow, and nothing else

    def _place(self, trace: Path, options: tuple[object, ...]) -> Path:
        key = repr((os.path.abspath(trace), options, compile_lens.__version__))  # noqa: PTH100 - a link is another name
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.pickle"


class _Unpickler(pickle.Unpickler):
    """Makes structs and enumerations of ours, and nothing else: a cache must not be able to run code."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(("compile_lens.analysis.", "compile_lens.trace.")):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, (Struct, Enum)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not kept")


def _state(trace: Path) -> tuple[Stamps, bytes]:
    """What changes when a trace does: names, sizes, times, and how files begin and end. Raises OSError."""
    files = [trace]
    if trace.is_dir():
        files = sorted(files_below(trace))
    digest = hashlib.sha256()
    for file in files:
        with open_regular(file) as content:
            digest.update(content.read(SAMPLE))
            size = content.seek(0, os.SEEK_END)
            content.seek(max(size - SAMPLE, 0))
            digest.update(content.read())
    return _stamps(map(str, files)), digest.digest()


def _stamps(paths: Iterable[str]) -> Stamps:
    return tuple(_stamp(path) for path in paths)


def _stamp(path: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - many, and quick
    except (OSError, ValueError):  # a trace may name anything
        return path, -1, -1
    return path, found.st_size, found.st_mtime_ns


def _own_code() -> Iterator[str]:
    """The files of our own code that was loaded, and so may have made what was found."""
    for name, module in sys.modules.items():
        if name.partition(".")[0] == "compile_lens" and (file := getattr(module, "__file__", None)):
            yield file
