"""Reads ``.gitignore`` files as git does (gitignore(5)), without git."""

from __future__ import annotations

import enum
import fnmatch
import functools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compile_lens.agent.runtime.regular_file import FileTooLargeError, read_regular_text
from compile_lens.late_pattern import pattern

NAME = ".gitignore"
# a folder that somebody else made may have any; no path is longer than this, and no repository has so many
LONGEST_RULE, MOST_RULES = 4096, 10_000
WILD = pattern(r"[*?\[\\]")


class _AnyFolders(enum.Enum):
    """What ``**`` stands for between slashes: folders, or none."""

    ANY_FOLDERS = enum.auto()


ANY_FOLDERS = _AnyFolders.ANY_FOLDERS
# of a path: a name, a pattern of one name, nothing that could match
_Part = str | re.Pattern[str] | None | _AnyFolders


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line of a file in the folder ``base`` (with ``/`` at its end)."""

    base: str
    parts: tuple[_Part, ...]
    only_folders: bool
    includes: bool


class Ignored:
    """The rules that are in force in one folder. Those of inner folders and later lines win."""

    def __init__(self, rules: Sequence[_Rule] = (), incomplete: Sequence[Path] = ()) -> None:
        self._rules = tuple(rules)
        # the files of which rules were left out
        self.incomplete = tuple(incomplete)

    @classmethod
    def above(cls, folder: Path) -> Ignored:
        """The rules for ``folder`` from the repository that contains it; none of folders above if there is no repository."""
        above = [folder, *folder.parents]
        root = next((place for place in above if (place / ".git").exists()), folder)
        found = cls()
        for place in reversed(above[: above.index(root) + 1][1:]):
            found = found.within(place)
        return found

    def within(self, folder: Path) -> Ignored:
        """These rules and those that ``folder`` itself adds."""
        file = folder / NAME
        try:
            lines = read_regular_text(file).splitlines()
        except FileTooLargeError:
            return Ignored(self._rules, [*self.incomplete, file])
        except OSError:
            return self
        base = folder.as_posix().rstrip("/") + "/"
        is_complete = len(lines) <= MOST_RULES and all(len(line) <= LONGEST_RULE for line in lines)
        return Ignored([*self._rules, *_rules(lines, base)], [*self.incomplete, *([] if is_complete else [file])])

    def ignores(self, path: Path, is_folder: bool) -> bool:
        """Whether the last rule that matches ``path`` excludes it."""
        name = path.as_posix()
        for rule in reversed(self._rules):
            if rule.only_folders and not is_folder:
                continue
            if name.startswith(rule.base) and _fits(rule.parts, name[len(rule.base) :].split("/")):
                return not rule.includes
        return False


def python_files(folder: Path, incomplete: set[Path]) -> Iterator[Path]:
    """The Python files in ``folder`` that are not ignored, in order; without hidden folders, environments and caches.

    ``incomplete`` takes the files of which rules were left out, because there are too many or they are too long.
    """

    # not by recursion: folders may be nested deeper than calls may be
    waiting = [_inside(folder, Ignored.above(folder), incomplete)]
    while waiting:
        for path, ignored in waiting[-1]:
            if ignored is None:
                yield path
            else:
                waiting.append(_inside(path, ignored, incomplete))
                break
        else:
            waiting.pop()


def _inside(place: Path, ignored: Ignored, incomplete: set[Path]) -> Iterator[tuple[Path, Ignored | None]]:
    """What is looked at in ``place``: Python files, and folders with the rules in force around them."""
    ignored = ignored.within(place)
    incomplete.update(ignored.incomplete)
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return  # a folder that cannot be read holds no files for this user
    for entry in entries:
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or ignored.ignores(path, is_folder):
            continue
        if is_folder:
            if entry.name not in ("__pycache__", "node_modules", "site-packages") and not _is_environment(path):
                yield path, ignored
        elif entry.name.endswith(".py") and os.path.isfile(path):  # noqa: PTH113 - a link may lead in a circle
            yield path, None


def _is_environment(folder: Path) -> bool:
    # without an error for a path that is too long
    return os.path.isfile(folder / "pyvenv.cfg") or os.path.isdir(folder / "conda-meta")  # noqa: PTH112, PTH113


def _rules(lines: Sequence[str], base: str) -> Iterator[_Rule]:
    for line in lines[:MOST_RULES]:
        text = line.rstrip(" ")
        if text.endswith("\\") and len(text) < len(line):
            text += " "
        if not text or text.startswith("#") or len(text) > LONGEST_RULE:
            continue
        includes = text.startswith("!")
        text = text[1:] if includes else text
        only_folders = text.endswith("/")
        text = text.rstrip("/")
        if text:
            yield _Rule(base, _parts(text), only_folders, includes)


def _parts(pattern: str) -> tuple[_Part, ...]:
    """With a slash at its start or in its midst a pattern is relative to its folder, else it matches at any depth."""
    anchored = "/" in pattern
    parts: list[_Part] = [] if anchored else [ANY_FOLDERS]
    for name in pattern.removeprefix("/").split("/"):
        if name == "**" and anchored:
            if parts[-1:] != [ANY_FOLDERS]:
                parts.append(ANY_FOLDERS)
        elif WILD.search(name):
            parts.append(_one_name(name))
        else:
            parts.append(name)
    return tuple(parts)


@functools.lru_cache(4 * MOST_RULES)
def _one_name(pattern: str) -> re.Pattern[str] | None:
    """What matches one name, in time that grows with its length times the pattern's. None, for nothing, if it is no pattern."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inner = pattern[at + 1 : end]
            parts.append(f"[{'!' + inner[1:] if inner[0] == '^' else inner}]")
            at = end + 1
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            parts.append(f"[{pattern[at + 1]}]" if pattern[at + 1] in "*?[" else pattern[at + 1])
            at += 2
        else:
            parts.append(pattern[at])
            at += 1
    try:
        # what follows a star is looked for once: fnmatch makes groups that are not tried again
        return re.compile(fnmatch.translate("".join(parts)))
    except re.error:
        return None


def _fits(parts: Sequence[_Part], names: Sequence[str]) -> bool:
    """Whether ``parts`` match all of ``names``. Only the last "**" is tried again: the ones before it have taken as little as they can."""
    at = here = 0
    again = (-1, 0)
    while here < len(names):
        if at < len(parts) and parts[at] is ANY_FOLDERS:
            if at + 1 == len(parts):
                return True
            again = (at + 1, here)
            at += 1
        elif at < len(parts) and _is(parts[at], names[here]):
            at, here = at + 1, here + 1
        elif again[0] >= 0:
            again = (again[0], again[1] + 1)
            at, here = again
        else:
            return False
    return at == len(parts)


def _is(part: _Part, name: str) -> bool:
    if isinstance(part, str):
        return part == name
    return isinstance(part, re.Pattern) and part.match(name) is not None
