"""Reads ``.gitignore`` files as git does (gitignore(5)), without git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compile_lens.regular_file import read_regular_text

NAME = ".gitignore"


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line of a file in the folder ``base`` (with ``/`` at its end)."""

    base: str
    pattern: re.Pattern[str]
    only_folders: bool
    includes: bool


class Ignored:
    """The rules that are in force in one folder. Those of inner folders and later lines win."""

    def __init__(self, rules: Sequence[_Rule] = ()) -> None:
        self._rules = tuple(rules)

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
        except OSError:
            return self
        base = folder.as_posix().rstrip("/") + "/"
        return Ignored([*self._rules, *_rules(lines, base)])

    def ignores(self, path: Path, is_folder: bool) -> bool:
        """Whether the last rule that matches ``path`` excludes it."""
        name = path.as_posix()
        for rule in reversed(self._rules):
            if rule.only_folders and not is_folder:
                continue
            if name.startswith(rule.base) and rule.pattern.fullmatch(name[len(rule.base) :]):
                return not rule.includes
        return False


def python_files(folder: Path) -> Iterator[Path]:
    """The Python files in ``folder`` that are not ignored, in order; without hidden folders, environments and caches."""

    def walk(place: Path, ignored: Ignored) -> Iterator[Path]:
        ignored = ignored.within(place)
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
                    yield from walk(path, ignored)
            elif entry.name.endswith(".py") and entry.is_file():
                yield path

    return walk(folder, Ignored.above(folder))


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


def _rules(lines: Sequence[str], base: str) -> Iterator[_Rule]:
    for line in lines:
        text = re.sub(r"(?<!\\) +$", "", line)
        if not text or text.startswith("#"):
            continue
        includes = text.startswith("!")
        text = text[1:] if includes else text
        only_folders = text.endswith("/")
        text = text.rstrip("/")
        if text:
            yield _Rule(base, re.compile(_regex(text)), only_folders, includes)


def _regex(pattern: str) -> str:
    """With a slash at its start or in its midst a pattern is relative to its folder, else it matches at any depth."""
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    parts: list[str] = [] if anchored else ["(?:.*/)?"]
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
        elif pattern.startswith("/**", at) and at + 3 == len(pattern):
            parts.append("/.*")
            at += 3
        elif pattern[at] == "*":
            parts.append("[^/]*")
            at += 1
        elif pattern[at] == "?":
            parts.append("[^/]")
            at += 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inner = pattern[at + 1 : end].replace("\\", "\\\\")
            parts.append(f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]")
            at = end + 1
        else:
            at += pattern[at] == "\\" and at + 1 < len(pattern)
            parts.append(re.escape(pattern[at]))
            at += 1
    return "".join(parts)
