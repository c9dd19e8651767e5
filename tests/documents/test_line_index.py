"""The line index against a model that knows nothing but code units: what an editor sees."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.documents import pieces
from compile_lens.documents.documents import Change, Documents
from compile_lens.documents.line_index import Encoding, LineIndex, Position

# line ends, what only str.splitlines takes for one, and characters of 1 to 4 bytes and of 1 and 2 UTF-16 units
PIECES = st.sampled_from(["\n", "\r\n", "\r", "\f", "\v", "\x85", "\u2028", "a", "bc", " ", "é", "€", "😀", "\ufeff"])
TEXTS = st.lists(PIECES, max_size=30).map("".join)
ENCODINGS = st.sampled_from(list(Encoding))
CODECS = {Encoding.UTF8: ("utf-8", 1), Encoding.UTF16: ("utf-16-le", 2), Encoding.UTF32: ("utf-32-le", 4)}


def model_lines(text: str) -> list[str]:
    """Lines with what ends them, read one character at a time."""
    lines, line, at = [], "", 0
    while at < len(text):
        end = 2 if text[at : at + 2] == "\r\n" else 1
        piece = text[at : at + end]
        line += piece
        if piece in ("\r\n", "\n", "\r"):
            lines.append(line)
            line = ""
        at += end
    return [*lines, line]


def model_offset(text: str, position: Position, encoding: Encoding) -> int:
    """Code points before ``position``: whole characters are taken while they fit."""
    lines = model_lines(text)
    if position.line >= len(lines):
        return len(text)
    codec, width = CODECS[encoding]
    taken = units = 0
    for character in lines[position.line].rstrip("\r\n"):
        units += len(character.encode(codec)) // width
        if units > position.character:
            break
        taken += 1
    return sum(map(len, lines[: position.line])) + taken


@given(TEXTS)
def test_only_three_things_end_a_line(text: str) -> None:
    index = LineIndex(text)
    assert [index.line(number) for number in range(index.line_count)] == [
        line.rstrip("\r\n") for line in model_lines(text)
    ]


@given(TEXTS, st.integers(0, 40), st.integers(0, 40), ENCODINGS)
def test_every_position_has_its_offset(text: str, line: int, character: int, encoding: Encoding) -> None:
    position = Position(line, character)
    assert LineIndex(text).offset(position, encoding) == model_offset(text, position, encoding)


@given(TEXTS, st.integers(0, 60), ENCODINGS)
def test_an_offset_and_its_position_are_one_place(text: str, offset: int, encoding: Encoding) -> None:
    index = LineIndex(text)
    position = index.position(offset, encoding)
    inside = min(offset, len(text))
    between = text[inside - 1 : inside + 1] == "\r\n"
    assert index.offset(position, encoding) == inside - (1 if between else 0)


@given(TEXTS, st.integers(0, 40), st.integers(0, 40), ENCODINGS)
def test_a_point_and_its_position_are_one_place(text: str, line: int, character: int, encoding: Encoding) -> None:
    index = LineIndex(text)
    row, column = index.point(Position(line, character), encoding)
    again = index.position_of(row, column, encoding)
    assert index.point(again, encoding) == (row, column)


@given(st.data(), TEXTS, ENCODINGS)
def test_edits_give_the_text_that_the_editor_has(data: st.DataObject, text: str, encoding: Encoding) -> None:
    documents = Documents(encoding)
    documents.open("file:///a.py", "/a.py", "python", 1, text)
    model = text
    for version in range(2, 6):
        start = Position(data.draw(st.integers(0, 12)), data.draw(st.integers(0, 12)))
        end = max(start, Position(data.draw(st.integers(0, 12)), data.draw(st.integers(0, 12))))
        new = data.draw(TEXTS)
        first, last = model_offset(model, start, encoding), model_offset(model, end, encoding)
        model = model[:first] + new + model[last:]
        documents.change("file:///a.py", version, [Change(new, start, end)])
        snapshot = documents.get("file:///a.py")
        assert snapshot is not None and (snapshot.text, snapshot.version) == (model, version)


def test_a_position_inside_a_character_is_before_it() -> None:
    index = LineIndex("😀x")
    assert index.offset(Position(0, 1), Encoding.UTF16) == 0
    assert index.offset(Position(0, 2), Encoding.UTF16) == 1
    assert index.offset(Position(0, 3), Encoding.UTF8) == 0


@pytest.mark.parametrize("position", [Position(-1, 5), Position(0, -3)])
def test_positions_before_the_text_are_its_beginning(position: Position) -> None:
    assert LineIndex("abc\n").offset(position, Encoding.UTF16) == 0


def test_halves_of_a_character_that_come_one_by_one_become_one() -> None:
    documents = Documents()
    documents.open("u", "/u.py", "python", 1, "ab")
    documents.change("u", 2, [Change("\ud83d", Position(0, 1), Position(0, 1))])
    documents.change("u", 3, [Change("\ude00", Position(0, 2), Position(0, 2))])
    snapshot = documents.get("u")
    assert snapshot is not None and snapshot.text == "a😀b"


def test_a_line_of_a_megabyte_and_a_hundred_thousand_lines() -> None:
    long = LineIndex("é" * 1_000_000)
    assert long.position_of(1, 1_000_001, Encoding.UTF8) == Position(0, 2_000_000)
    assert long.point(Position(0, 1_999_999), Encoding.UTF8) == (1, 1_000_000)
    many = LineIndex("x = '😀'\n" * 100_000)
    assert many.line_count == 100_001
    assert many.position_of(100_000, 7, Encoding.UTF16) == Position(99_999, 7)


def test_an_edited_index_is_that_of_the_new_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the edit joins or takes apart, and wherever it leaves the pieces of the text."""
    monkeypatch.setattr(pieces, "SIZE", 8)
    source = random.Random(7)
    parts = ["a", "é", "\n", "\r", "\r\n", "\f", "\u2028", "x = 1\n", "", "\n\n", "  b"]
    index, text = LineIndex(""), ""
    for _ in range(2_000):
        start = source.randint(0, len(text))
        end = min(len(text), start + source.choice([0, 0, 1, 2, 5, 40]))
        added = "".join(source.choices(parts, k=source.randint(0, 4)))
        index, text = index.edited(start, end, added), text[:start] + added + text[end:]
        lines = model_lines(text)
        assert (index.text, index.length, index.line_count) == (text, len(text), len(lines)), (text, start, end)
        at = 0
        for number, line in enumerate(lines):
            assert index.line(number) == line.rstrip("\r\n"), (text, start, end)
            assert (index.offset(Position(number, 0), Encoding.UTF16), index.line_at(at)) == (at, number)
            at += len(line)
        if len(text) > 300:
            index, text = index.edited(0, 200, ""), text[200:]


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_a_stretch_is_that_of_the_text(text: str, start: int, end: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "SIZE", 4)
        assert LineIndex(text).between(start, end) == text[start:end]


def test_an_edit_reads_what_is_around_it_alone() -> None:
    """However long the document is: the rest is neither copied nor looked through again."""
    read: list[str] = []

    def reader(text: str) -> int:
        read.append(text)
        return text.count("GB")

    text = "x = 1  # a line of a long document\n" * 100_000
    index = LineIndex(text)
    assert sum(count for _, count in index.read_by_pieces(reader)) == 0
    assert "".join(read) == text
    read.clear()
    index = index.edited(1_000_000, 1_000_000, "GB")
    assert sum(count for _, count in index.read_by_pieces(reader)) == 1
    assert len("".join(read)) < 3 * pieces.SIZE
    offsets = [offset for offset, _ in index.read_by_pieces(len)]
    assert offsets[0] == 0 and all(index.between(at - 1, at) == "\n" for at in offsets[1:])


def test_typing_does_not_cut_a_document_into_crumbs() -> None:
    index = LineIndex("x = 1\n" * 20_000)
    for number in range(2_000):
        index = index.edited(60_000 + number, 60_000 + number, "y" if number % 10 else "\n")
    sizes = [size for _, size in index.read_by_pieces(len)]
    assert min(sizes) >= pieces.SIZE and max(sizes) <= 2 * pieces.SIZE + 10
