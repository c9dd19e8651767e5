"""A change of source text that may help with a finding."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from compile_lens.documents.line_index import Encoding, LineIndex, Position
from compile_lens.syntax.tree import Range

_LINE_END = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(r"\w+|[^\w\s]")


class FixKind(Enum):
    """What a fix claims."""

    CHANGE = "change"  # the program does the same, and torch compiles it better
    SEPARATE = (
        "separate"  # as many graphs are compiled, but each kind of call has its own, and none counts as a recompile
    )
    LOSSY = "lossy"  # … but for something that the title names: a text that is not printed any more
    EXCLUDE = "exclude"  # what cannot be compiled is left out on purpose
    KEEP = "keep"  # the program does the same, and a change that makes it worse will be an error
    SKELETON = "skeleton"  # the user has to complete it
    UNSAFE = "unsafe"  # … only as long as what is not checked any more does not change
    IGNORE = "ignore"  # the user accepts the finding


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` replaces ``place``; an empty place is an insertion."""

    place: Range
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix. ``rule`` names it for documentation and settings; ``title`` is an imperative without a period.

    ``edits`` do not overlap, and are in the order of the text.
    """

    rule: str
    title: str
    edits: tuple[Edit, ...]
    kind: FixKind = FixKind.CHANGE


def make(rule: str, title: str, *edits: Edit | None, kind: FixKind = FixKind.CHANGE) -> Fix:
    """A fix of those ``edits`` that are needed, each once and in order."""
    needed = dict.fromkeys(edit for edit in edits if edit is not None)
    return Fix(rule, title, tuple(sorted(needed, key=lambda edit: (edit.place.line, edit.place.column))), kind)


def apply_fix(text: str, fix: Fix) -> str:
    """``text`` with the edits of ``fix``; everything else stays byte for byte."""
    pieces: list[str] = []
    done = 0
    for start, end, new in _spans(text, fix):
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def edits_between(before: str, after: str) -> tuple[Edit, ...]:
    """What turns ``before`` into ``after``, as edits of whole lines."""
    old, new = _lines(before), _lines(after)
    last = len(old) if old and not _LINE_END.search(old[-1]) else len(old) + 1
    end = (last, len(old[-1]) + 1 if last == len(old) else 1)
    edits = []
    for tag, first, beyond, start, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            begins = (first + 1, 1) if first < len(old) else end
            ends = (beyond + 1, 1) if beyond < len(old) else end
            edits.append(Edit(Range(*begins, *ends), "".join(new[start:stop])))
    return tuple(edits)


def line_before(before: str, after: str, line: int) -> int:
    """The line of ``before`` that a line of ``after`` was made of, or above which it was added."""
    if before == after:
        return line
    old, new = _lines(before), _lines(after)
    for _, first, beyond, start, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if start < line <= stop:
            return min(first + line - start, max(beyond, first + 1), len(old))
    return line


def tokens_changed(text: str, fix: Fix) -> int:
    """How many tokens ``fix`` takes out of ``text`` and puts into it."""
    changed = 0
    for start, end, new in _spans(text, fix):
        old_tokens, new_tokens = _TOKEN.findall(text[start:end]), _TOKEN.findall(new)
        matcher = difflib.SequenceMatcher(None, old_tokens, new_tokens, autojunk=False)
        kept = sum(block.size for block in matcher.get_matching_blocks())
        changed += len(old_tokens) + len(new_tokens) - 2 * kept
    return changed


def _lines(text: str) -> list[str]:
    """The lines of ``text`` with their ends, as an editor counts them."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]


def _spans(text: str, fix: Fix) -> list[tuple[int, int, str]]:
    index = _index_of(text)

    def offset(line: int, column: int) -> int:
        return min(index.offset(Position(line - 1, 0), Encoding.UTF32) + column - 1, index.length)

    return [
        (offset(edit.place.line, edit.place.column), offset(edit.place.end_line, edit.place.end_column), edit.text)
        for edit in fix.edits
    ]


# the fixes of a finding are all about one text
@lru_cache(maxsize=2)
def _index_of(text: str) -> LineIndex:
    return LineIndex(text)
