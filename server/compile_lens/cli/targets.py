"""Finds the files that a command is about: those that are named, those of folders, and those that match patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compile_lens.documents.gitignore import python_files
from compile_lens.documents.source_file import source_if_readable
from compile_lens.syntax.regions import find_regions

MAGIC = ("*", "?", "[")


@dataclass(frozen=True, slots=True)
class Targets:
    """``files`` are absolute paths. ``passed_over`` counts those of folders that compile nothing; ``empty`` are what had no file.

    ``incomplete`` are the .gitignore files of which rules were left out.
    """

    files: tuple[str, ...]
    passed_over: int = 0
    empty: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()


def find_targets(arguments: Sequence[str]) -> Targets:
    """The files of ``arguments``. A file that is named is taken as it is; those of folders only if they use torch.compile, since a
    folder also holds scripts that nobody wants to run.
    """
    files: dict[str, None] = {}
    empty: list[str] = []
    incomplete: set[Path] = set()
    passed_over = 0
    for argument in arguments:
        found = _matches(argument)
        if not found:
            empty.append(argument)
        for path in found:
            if not os.path.isdir(path):  # noqa: PTH112 - links are kept: the program sees the path that the user gave
                files[path] = None
                continue
            inside = list(python_files(Path(path), incomplete))
            compiling = [str(file) for file in inside if _compiles(file)]
            passed_over += len(inside) - len(compiling)
            files.update(dict.fromkeys(compiling))
            if not compiling:
                empty.append(argument)
    return Targets(tuple(files), passed_over, tuple(empty), tuple(sorted(map(str, incomplete))))


def _matches(argument: str) -> list[str]:
    """The path itself, or what matches it if it is a pattern that is no path."""
    if os.path.lexists(argument) or not any(sign in argument for sign in MAGIC):
        return [os.path.abspath(argument)]  # noqa: PTH100
    return sorted(map(os.path.abspath, glob.glob(argument, recursive=True)))  # noqa: PTH207


def _compiles(file: Path) -> bool:
    text = source_if_readable(str(file))
    return text is not None and "compile" in text and bool(find_regions(text))
