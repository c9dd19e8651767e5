"""Lines of an older text in the present one, and back."""

from __future__ import annotations

import random

from compile_lens.documents.line_index import LineIndex
from compile_lens.documents.moves import LineMap


def test_lines_that_were_not_edited_are_found_again_in_both_directions() -> None:
    moves = LineMap(LineIndex("a\nb\nc\nd\ne\n"), LineIndex("new\na\nb\nchanged\ne\n"))
    assert moves.has_changed
    assert [moves.now(line) for line in range(1, 6)] == [2, 3, None, None, 5]
    assert [moves.then(line) for line in range(1, 6)] == [None, 1, 2, None, 5]


def test_the_same_text_has_not_changed() -> None:
    text = LineIndex("a\nb\n")
    moves = LineMap(text, LineIndex("a\nb\n"))
    assert not moves.has_changed
    assert (moves.now(2), moves.then(2)) == (2, 2)


def test_what_is_found_reads_the_same_and_leads_back() -> None:
    draw = random.Random(17)
    for _ in range(200):
        then = [str(draw.randrange(6)) for _ in range(draw.randrange(1, 12))]
        now = list(then)
        for _ in range(draw.randrange(4)):
            place = draw.randrange(len(now) + 1)
            now[place : place + draw.randrange(3)] = [str(draw.randrange(6)) for _ in range(draw.randrange(3))]
        moves = LineMap(LineIndex("\n".join(then)), LineIndex("\n".join(now)))
        found = {line: moves.now(line) for line in range(1, len(then) + 1)}
        for line, place in found.items():
            if place is not None and now:
                assert now[place - 1] == then[line - 1]
                assert moves.then(place) == line
