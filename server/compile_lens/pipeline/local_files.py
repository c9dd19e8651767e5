"""Finds the files of this machine that a trace from another one speaks of, and the lines that its lines are at now.

A file is found by a folder that the user maps, by its own path, or by the end of its path below the folders of the user: then its lines
must be those that the trace has.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from msgspec import Struct

from compile_lens.analysis.sources import LIBRARY, NO_FILE
from compile_lens.documents.source_file import source_if_named
from compile_lens.late_pattern import pattern
from compile_lens.trace.graph_text import LINE
from compile_lens.trace.relocation import named_files, relocated, stack_frames
from compile_lens.trace.report import CompileReport
from compile_lens.trace.walked import walked
from compile_lens.wording import counted

Maps = tuple[tuple[str, str], ...]
# a folder of other people's code, or of what is made
PASSED_OVER = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist"})
# a home folder is not searched to its end
MOST_FOLDERS = 2000
# lines that prove that a file is the one that ran, and how many graphs are read for them
FEW_LINES, MOST_GRAPHS = 3, 20
GRAPH = "dynamo_output_graph"
DEFINED = pattern(r"(?:async )?def (\w+)")


class LocalFile(Struct, frozen=True):
    """A recorded file as it is here. ``lines`` are the recorded lines that are elsewhere now; ``lost``, those that are gone."""

    recorded: str
    path: str
    lines: Mapping[int, int]
    lost: frozenset[int] = frozenset()

    @property
    def has_changed(self) -> bool:
        """Whether it is another text than the one that ran."""
        return bool(self.lost) or any(line != now for line, now in self.lines.items())


class LocalFiles(Struct, frozen=True):
    """The files of one trace. ``looked`` are the paths that the answer depends on, whether they exist or not."""

    files: Mapping[str, LocalFile]
    looked: tuple[str, ...] = ()

    def here(self, file: str, line: int) -> tuple[str, int]:
        """Where a line is on this machine; as recorded if it is not here."""
        found = self.files.get(file)
        return (file, line) if found is None else (found.path, _moved(found.lines, line))

    def localize(self, report: CompileReport) -> CompileReport:
        """``report`` as if it had been recorded here."""
        is_here = all(local.recorded == local.path and not local.has_changed for local in self.files.values())
        return report if is_here else relocated(report, self.here)

    def notes(self) -> Iterator[str]:
        """What to say of files that are another text now."""
        for local in self.files.values():
            moved = sum(line != now for line, now in local.lines.items()) - len(local.lost)
            parts = [f"{counted(moved, 'line')} found elsewhere"] if moved > 0 else []
            parts += [f"{counted(len(local.lost), 'line')} no longer there"] if local.lost else []
            if parts:
                yield f"{Path(local.path).name} has changed since the trace was recorded: {', '.join(parts)}."

    def as_recorded(self, file: str, line: int) -> tuple[int, bool] | None:
        """The recorded line that is at ``line`` of a local ``file`` now, and whether its text is gone; None if nothing has changed."""
        for local in self.files.values():
            if local.path == file and local.has_changed:
                for recorded, now in local.lines.items():
                    if now == line and (recorded != now or recorded in local.lost):
                        return recorded, recorded in local.lost
        return None


NO_FILES = LocalFiles({})


def find_local_files(report: CompileReport, maps: Maps, folders: Sequence[str]) -> LocalFiles:
    """The files of the user's that ``report`` speaks of, as they are below ``folders``, or where ``maps`` says (folder there, here)."""
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    functions: dict[str, set[str]] = defaultdict(set)
    for frame in stack_frames(report):
        if frame.text:
            texts[frame.file].setdefault(frame.line, _code(frame.text))
        functions[frame.file].add(frame.name)
    _add_lines_of_graphs(report, texts)
    search = _Search(maps, [os.path.abspath(folder) for folder in folders])  # noqa: PTH100 - links stay as they are
    found = {}
    for file in sorted(named_files(report)):
        if NO_FILE.search(file):
            continue
        local = search.find(file, texts.get(file, {}), functions[file])
        if local is not None:
            found[file] = local
    return LocalFiles(found, tuple(search.looked))


def _add_lines_of_graphs(report: CompileReport, texts: dict[str, dict[int, str]]) -> None:
    """Add what graphs say of the files of the user's that stacks say little of: torch leaves the text out of short ones."""
    unknown = {
        file for file in named_files(report) if not LIBRARY.search(file) and len(texts.get(file, {})) < FEW_LINES
    }
    read = 0
    for artifact in report.artifacts:
        if artifact.name == GRAPH and unknown and read < MOST_GRAPHS:
            read += 1
            for found in map(LINE.match, (artifact.payload.text() or "").splitlines()):
                if found is not None and found["file"] in unknown and found["code"].strip():
                    texts[found["file"]].setdefault(int(found["line"]), _code(found["code"]))


class _Search:
    def __init__(self, maps: Maps, folders: list[str]) -> None:
        self._maps = maps
        self._folders = folders
        self._by_name: dict[str, list[str]] | None = None
        self.looked: dict[str, None] = {}

    def find(self, recorded: str, texts: Mapping[int, str], functions: set[str]) -> LocalFile | None:
        """The file here that is ``recorded`` there."""
        for there, here in self._maps:
            if recorded.startswith(there):
                lines = self._lines(here + recorded[len(there) :])
                if lines is not None:
                    return _matched(recorded, here + recorded[len(there) :], lines, texts)
        if LIBRARY.search(recorded):
            return None
        own = self._lines(recorded)
        if own is not None:
            return _matched(recorded, recorded, own, texts)
        return self._by_suffix(recorded, texts, functions)

    def _by_suffix(self, recorded: str, texts: Mapping[int, str], functions: set[str]) -> LocalFile | None:
        parts = _parts(recorded)
        for candidate in self._candidates(parts):
            lines = self._lines(candidate)
            folders = _common_end(_parts(candidate), parts) - 1
            if lines is not None and _is_same_file(lines, texts, functions if folders > 0 else set()):
                return _matched(recorded, candidate, lines, texts)
        return None

    def _candidates(self, parts: tuple[str, ...]) -> Iterator[str]:
        for length in range(min(len(parts), 6), 0, -1):
            yield from (os.path.join(folder, *parts[-length:]) for folder in self._folders)  # noqa: PTH118
        if parts:
            yield from sorted(self._named(parts[-1]), key=lambda path: -_common_end(_parts(path), parts))

    def _lines(self, path: str) -> list[str] | None:
        self.looked.setdefault(path)
        if not path.endswith(".py"):
            return None
        text = source_if_named(path) if os.path.isfile(path) else None  # noqa: PTH113
        return None if text is None else [_code(line) for line in text.split("\n")]

    def _named(self, name: str) -> list[str]:
        if self._by_name is None:
            self._by_name = defaultdict(list)
            folders = 0
            for root in dict.fromkeys(self._folders):
                for folder, inside, files in walked(root):
                    inside[:] = sorted(one for one in inside if one not in PASSED_OVER and not one.startswith("."))
                    folders += 1
                    if folders > MOST_FOLDERS:
                        break
                    for file in files:
                        if file.endswith(".py"):
                            self._by_name[file].append(os.path.join(folder, file))  # noqa: PTH118
        return self._by_name[name]


def _parts(path: str) -> tuple[str, ...]:
    pure: type[PurePath] = PureWindowsPath if "\\" in path else PurePosixPath
    whole = pure(path)
    return whole.parts[1:] if whole.anchor else whole.parts


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((length for length, (mine, yours) in enumerate(pairs) if mine != yours), min(len(one), len(other)))


def _is_same_file(lines: Sequence[str], texts: Mapping[int, str], functions: set[str]) -> bool:
    """Whether most of the recorded lines are here, or all of the recorded ``functions``; without any, a name alone proves nothing."""
    here = set(lines)
    if 2 * sum(text in here for text in texts.values()) > len(texts):
        return True
    named = {name.rpartition(".")[2] for name in functions if name.rpartition(".")[2].isidentifier()}
    defined = {found[1] for found in map(DEFINED.match, lines) if found}
    return bool(named) and named <= defined


def _code(line: str) -> str:
    """A line as it is compared: a comment behind it may have been added."""
    return line.partition("  #")[0].strip()


def _matched(recorded: str, path: str, lines: list[str], texts: Mapping[int, str]) -> LocalFile:
    """Where each recorded line is: at its number, else at its text; of several, at the nearest after the lines before it have moved."""
    if all(_at(lines, line) == text for line, text in texts.items()):
        return LocalFile(recorded, path, {})
    places: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(lines, 1):
        places[text].append(number)
    shifts = {line: places[text][0] - line for line, text in texts.items() if len(places[text]) == 1}
    now: dict[int, int] = {}
    lost = set()
    for line, text in sorted(texts.items()):
        expected = line + _nearest(shifts, line)
        if places[text]:
            now[line] = min(places[text], key=lambda number: abs(number - expected))
        else:
            now[line] = max(1, min(expected, len(lines)))
            lost.add(line)
    return LocalFile(recorded, path, now, frozenset(lost))


def _at(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if 1 <= number <= len(lines) else ""


def _nearest(shifts: Mapping[int, int], line: int) -> int:
    return shifts[min(shifts, key=lambda known: abs(known - line))] if shifts else 0


def _moved(lines: Mapping[int, int], line: int) -> int:
    known = lines.get(line)
    if known is not None or not lines:
        return known or line
    return max(1, line + _nearest({there: here - there for there, here in lines.items()}, line))
