"""Moves findings with edits of the text until the next run, and maps lines of an older text to the present one.

An edit is seen in whole lines: some lines gave way to others. A finding whose own lines are as they were moves up or
down with them, its columns unchanged; a finding whose own lines were touched is no longer true of this text, and goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from msgspec.structs import replace

from compile_lens.analysis.finding import CallSite, Finding, Place, Recompiled, RegionSummary, Related
from compile_lens.documents.line_index import LineIndex

# lines before times lines after that are compared one by one; a larger edit is one block
MAX_COMPARED = 250_000


@dataclass(frozen=True, slots=True)
class LineEdit:
    """The lines from ``first`` (from 1) up to, and not with, ``end`` gave way to ``added`` lines.

    ``first == end``: only added.
    """

    first: int
    end: int
    added: int

    @property
    def shift(self) -> int:
        """By how many lines everything after the edit moved."""
        return self.added - (self.end - self.first)


def line_edits(old: LineIndex, new: LineIndex, start: int, old_end: int, new_end: int) -> list[LineEdit]:
    """What happened to whole lines when ``new.text[start:new_end]`` took the place of ``old.text[start:old_end]``.

    Offsets are in code points. Lines that read the same are not part of an edit: pressing Enter at the end of a line adds
    a line and leaves that one alone, and a formatter that writes the whole file anew edits what it changed. The edits
    come from the bottom up, so that each speaks of lines as they were before all of them.
    """
    old_first, old_last = old.line_at(start), old.line_at(old_end)
    new_first, new_last = new.line_at(start), new.line_at(new_end)
    tail_moves_as_one = old.line_count - old_last == new.line_count - new_last
    if old_first != new_first or not tail_moves_as_one:
        # the edit joined a \r and a \n, or took them apart: the lines around it are not what the offsets say
        old_first, old_last, new_last = 0, old.line_count - 1, new.line_count - 1
    before = [old.line(number) for number in range(old_first, old_last + 1)]
    after = [new.line(number) for number in range(old_first, new_last + 1)]
    head = _common_head(before, after)
    tail = _common_head(before[head:][::-1], after[head:][::-1])
    before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    first = old_first + head + 1
    if len(before) * len(after) > MAX_COMPARED:
        return [LineEdit(first, first + len(before), len(after))]
    differences = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    edits = [LineEdit(first + i1, first + i2, j2 - j1) for tag, i1, i2, j1, j2 in differences if tag != "equal"]
    return edits[::-1]


def move_place(place: Place, edit: LineEdit) -> Place | None:
    """Where ``place`` is after ``edit``; None if its own lines were touched."""
    if place.end_line < edit.first:
        return place
    if place.line >= edit.end:
        return replace(place, line=place.line + edit.shift, end_line=place.end_line + edit.shift)
    return None


def is_touched(place: Place, edits: Iterable[LineEdit]) -> bool:
    """Whether one of the ``edits``, which led to the text that ``place`` is in, wrote a line of it, or took one out of its middle."""
    first, last = place.line, place.end_line
    for edit in reversed(list(edits)):
        if first < edit.first + edit.added and edit.first <= last and edit.added:
            return True
        if first < edit.first <= last:
            return True
        if edit.first + edit.added <= first:
            first, last = first - edit.shift, last - edit.shift
    return False


def move_finding(finding: Finding, edit: LineEdit, here: Callable[[str], bool]) -> Finding | None:
    """``finding`` after ``edit`` of the file for which ``here`` is true; None if its own lines were touched.

    A related place that was touched is left out. A level of the call path that was touched stays where it was: the path
    is evidence of the run, and a gap in it would read as another path.
    """
    place = move_place(finding.place, edit) if here(finding.place.file) else finding.place
    if place is None:
        return None
    return replace(
        finding,
        place=place,
        related=tuple(_moved_related(finding.related, edit, here)),
        call_path=tuple(_moved_call_path(finding.call_path, edit, here)),
        recompiles=tuple(_moved_recompile(entry, edit, here) for entry in finding.recompiles),
    )


def move_region(region: RegionSummary, edit: LineEdit, here: Callable[[str], bool]) -> RegionSummary | None:
    """``region`` after ``edit`` of the file for which ``here`` is true; None if its own lines were touched."""
    if not here(region.place.file):
        return region
    place = move_place(region.place, edit)
    return None if place is None else replace(region, place=place)


def _moved_related(related: Iterable[Related], edit: LineEdit, here: Callable[[str], bool]) -> Iterable[Related]:
    for entry in related:
        if not here(entry.place.file):
            yield entry
        elif (place := move_place(entry.place, edit)) is not None:
            yield replace(entry, place=place)


def _moved_call_path(path: Iterable[CallSite], edit: LineEdit, here: Callable[[str], bool]) -> Iterable[CallSite]:
    for site in path:
        place = move_place(site.place, edit) if here(site.place.file) else None
        yield site if place is None else replace(site, place=place)


def _moved_recompile(entry: Recompiled, edit: LineEdit, here: Callable[[str], bool]) -> Recompiled:
    """``entry`` after ``edit``; without its place if that was touched."""
    if entry.place is None or not here(entry.place.file):
        return entry
    return replace(entry, place=move_place(entry.place, edit))


def _common_head(one: list[str], other: list[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


class LineMap:
    """Lines count from 1. A line that was changed or removed has no place in the other text."""

    def __init__(self, then: LineIndex, now: LineIndex) -> None:
        same = then is now or then.text == now.text
        found = [] if same else line_edits(then, now, 0, len(then.text), len(now.text))
        self._edits: tuple[LineEdit, ...] = tuple(reversed(found))

    @property
    def has_changed(self) -> bool:
        """Whether any line differs."""
        return bool(self._edits)

    def now(self, line: int) -> int | None:
        """Where a line of the older text is; None if it is gone."""
        shift = 0
        for edit in self._edits:
            if edit.first > line:
                break
            if line < edit.end:
                return None
            shift += edit.shift
        return line + shift

    def then(self, line: int) -> int | None:
        """Where a line of the present text was; None if it is new."""
        shift = 0
        for edit in self._edits:
            first = edit.first + shift
            if first > line:
                break
            if line < first + edit.added:
                return None
            shift += edit.shift
        return line - shift
