"""Reads the texts of a project in which a module may be used: its package, tests, examples and scripts, and the code in its pages."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....runtime.parsed_source import parsed
from ....runtime.regular_file import read_regular_text
from ...importing.configuration_files import project_of

# no limit is one of time: what is found must not depend on how busy the machine is
MOST_FILES, MOST_FOLDERS = 600, 1500
LARGEST_BYTES, MOST_CHARACTERS = 300_000, 8_000_000
_LEFT_OUT = re.compile(r"(?:\..*|__pycache__|build|dist|node_modules|site-packages|v?env|wandb|.*\.egg-info)")
_PAGES = (".md", ".rst", ".markdown")
_FENCED = re.compile(r"^[ \t]*```[ \t]*(?:python|py|pycon)?[^\S\n]*\n(.*?)^[ \t]*```", re.S | re.M)
# the other way to write code in Markdown, and the one of reStructuredText
_INDENTED = re.compile(r"^[^\S\n]*\n((?:(?: {3,}|\t)[^\n]*\n|[^\S\n]*\n)+)", re.M)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One text. ``dotted`` is the name that its module can be imported under, '' where it has none."""

    path: str
    dotted: str
    text: str

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__.py`` of a package."""
        return os.path.basename(self.path) == "__init__.py"


def files_mentioning(file: str, name: str, word: str) -> Iterator[ProjectFile]:
    """The texts of the project of ``file``, the module ``name``, that have ``word``, those nearest to it first."""
    for each in _texts(os.path.abspath(file), name):
        if word in each.text:
            yield each


@functools.lru_cache(maxsize=2)
def _texts(file: str, name: str) -> tuple[ProjectFile, ...]:
    folder = os.path.dirname(file)
    depth = name.count(".")
    top = folder
    for _ in range(depth):
        top = os.path.dirname(top)
    root = project_of(file)
    if os.path.relpath(top, root).startswith(os.pardir):
        root = top
    paths = sorted(_paths(root), key=lambda path: (_apart(path, folder), path))
    found: list[ProjectFile] = []
    left = MOST_CHARACTERS
    for path in paths[:MOST_FILES]:
        try:
            text = read_regular_text(path, LARGEST_BYTES)
        except OSError:
            continue
        left -= len(text)
        if left < 0:
            break
        if path.endswith(_PAGES):
            text = "\n".join(_blocks(text))
        dotted = _dotted(path, top, folder if not depth else "")
        is_of_package = not depth or dotted.partition(".")[0] == name.partition(".")[0]
        found.append(ProjectFile(path, dotted if is_of_package else "", text))
    return tuple(found)


def _paths(root: str) -> Iterator[str]:
    for number, (place, folders, names) in enumerate(os.walk(root)):
        folders[:] = sorted(each for each in folders if not _LEFT_OUT.fullmatch(each))
        yield from (os.path.join(place, each) for each in sorted(names) if each.endswith((".py", *_PAGES)))
        if number > MOST_FOLDERS:
            return


def _apart(path: str, folder: str) -> int:
    """How many folders lie between a file and ``folder``; one above counts as three, since what is in it is less likely about the file."""
    parts = os.path.relpath(path, folder).split(os.sep)
    return len(parts) + 2 * parts.count(os.pardir)


def _dotted(path: str, top: str, folder: str) -> str:
    """The name of the module at ``path``, where ``top`` is the folder that imports begin in; '' where it is not in ``folder``."""
    stem, extension = os.path.splitext(os.path.relpath(path, top))
    parts = stem.split(os.sep)
    if extension != ".py" or not all(part.isidentifier() for part in parts):
        return ""
    if folder and os.path.dirname(path) != folder:
        return ""
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts)


def _blocks(page: str) -> Iterator[str]:
    """The code of a page that Python can read, without prompts: fenced, or indented below an empty line, where it calls something."""
    indented = (block for block in _INDENTED.findall(f"\n{_FENCED.sub('', page)}\n") if "(" in block)
    for block in (*_FENCED.findall(page), *indented):
        lines = block.splitlines()
        margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        code = "\n".join(re.sub(r"^(?:>>>|\.\.\.) ?", "", line[margin:]) for line in lines)
        if parsed(code) is not None:
            yield code
