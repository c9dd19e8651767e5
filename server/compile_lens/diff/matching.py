"""Pairs the findings of two runs: the same code first, then code that moved, was renamed, or was edited a little."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from compile_lens.diff.identity import Identity

# two versions of one line are at least this similar (difflib's ratio): a renamed variable, not another statement
SIMILAR = 0.6

# from the strictest on; what a pass pairs is not there for the next
PASSES: tuple[Callable[[Identity], Hashable], ...] = (
    lambda one: one,
    lambda one: (one.kind, one.code, one.cause, one.file, one.function, one.text),
    # the function was renamed, or the line moved to another
    lambda one: (one.kind, one.code, one.cause, one.file, one.text),
    # the file was renamed, or the function moved to another
    lambda one: (one.kind, one.code, one.cause, one.function, one.text),
)


@dataclass(frozen=True, slots=True)
class Matched:
    """Indexes into the two sequences: ``pairs`` of both, ``gone`` of the earlier, ``new`` of the later one."""

    pairs: tuple[tuple[int, int], ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]


def match(before: Sequence[Identity], after: Sequence[Identity]) -> Matched:
    """Which findings of ``after`` were there ``before``. Each is paired once, in the order of the sequences."""
    pairs: dict[int, int] = {}
    open_before, open_after = list(range(len(before))), list(range(len(after)))
    for key_of in PASSES:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for index in open_before:
            waiting[key_of(before[index])].append(index)
        for index in open_after:
            if candidates := waiting[key_of(after[index])]:
                pairs[candidates.pop(0)] = index
        open_before = [index for index in open_before if index not in pairs]
        taken = set(pairs.values())
        open_after = [index for index in open_after if index not in taken]
    for earlier in list(open_before):
        later = _edited(before[earlier], [(index, after[index]) for index in open_after])
        if later is not None:
            pairs[earlier] = later
            open_before.remove(earlier)
            open_after.remove(later)
    return Matched(tuple(sorted(pairs.items())), tuple(open_before), tuple(open_after))


def _edited(one: Identity, candidates: list[tuple[int, Identity]]) -> int | None:
    """The candidate in the same function that is most like ``one``, if its line is similar enough."""
    best, found = SIMILAR, None
    for index, other in candidates:
        if (one.kind, one.code, one.cause, one.file, one.function) != (
            other.kind,
            other.code,
            other.cause,
            other.file,
            other.function,
        ):
            continue
        ratio = difflib.SequenceMatcher(None, one.text, other.text, autojunk=False).ratio()
        if ratio >= best:
            best, found = ratio, index
    return found
