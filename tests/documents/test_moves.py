"""Findings move with the text: whole lines, against a model that marks lines and looks where the marks went."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compile_lens.analysis.finding import CallSite, Finding, Kind, Place, Related, Severity
from compile_lens.documents.documents import EDITS_KEPT, Change, Documents
from compile_lens.documents.line_index import Position
from compile_lens.documents.moves import LineEdit, move_finding, move_place

URI = "file:///a.py"
TEXT = "one\ntwo\nthree\nfour\nfive"


def place(line: int, end: int | None = None, file: str = "/a.py") -> Place:
    return Place(file, line, 1, end or line, 4)


def edits(text: str, *changes: Change) -> list[LineEdit]:
    documents = Documents()
    documents.open(URI, "/a.py", "python", 1, text)
    return documents.change(URI, 2, changes)


def moved(line: int, *changes: Change, text: str = TEXT) -> int | None:
    found: Place | None = place(line)
    for edit in edits(text, *changes):
        found = found and move_place(found, edit)
    return found.line if found else None


def at(line: int, character: int, text: str, end_line: int | None = None, end: int | None = None) -> Change:
    start = Position(line, character)
    return Change(text, start, Position(line if end_line is None else end_line, character if end is None else end))


def test_enter_at_the_end_of_a_line_leaves_it_alone() -> None:
    assert [moved(line, at(1, 3, "\n    ")) for line in (1, 2, 3)] == [1, 2, 4]


def test_enter_at_the_start_of_a_line_moves_it() -> None:
    assert [moved(line, at(1, 0, "\n")) for line in (1, 2, 3)] == [1, 3, 4]


def test_typing_in_a_line_ends_what_was_found_there() -> None:
    assert [moved(line, at(1, 1, "x")) for line in (1, 2, 3)] == [1, None, 3]


def test_deleting_lines_moves_what_is_below() -> None:
    assert [moved(line, at(1, 0, "", 3, 0)) for line in (1, 2, 3, 4, 5)] == [1, None, None, 2, 3]


def test_joining_two_lines_ends_both() -> None:
    assert [moved(line, at(1, 3, "", 2, 0)) for line in (1, 2, 3, 4)] == [1, None, None, 3]


def test_the_whole_text_anew_is_an_edit_of_what_differs() -> None:
    assert [moved(line, Change("zero\n" + TEXT.replace("four", "4"))) for line in (1, 3, 4, 5)] == [2, 4, None, 6]


def test_replacing_text_by_itself_is_no_edit() -> None:
    assert edits(TEXT, Change(TEXT), at(1, 0, "two", 1, 3)) == []


def test_a_line_added_inside_a_finding_of_several_lines_ends_it() -> None:
    (edit,) = edits(TEXT, at(2, 0, "new\n"))
    assert move_place(place(2, 3), edit) is None
    assert move_place(place(3, 4), edit) == Place("/a.py", 4, 1, 5, 4)


def finding(line: int, related: int, call: int) -> Finding:
    return Finding(
        "GB0001",
        Kind.GRAPH_BREAK,
        Severity.WARNING,
        "message",
        place(line),
        related=(Related(place(related), "there"), Related(place(1, file="/lib.py"), "library")),
        call_path=(CallSite(place(call), "f", "one"), CallSite(place(1, file="/lib.py"), "g", "")),
    )


def test_related_places_and_the_call_path_move_too() -> None:
    result = move_finding(finding(4, 3, 5), LineEdit(2, 2, 1), lambda file: file == "/a.py")
    assert result is not None
    assert (result.place.line, result.related[0].place.line, result.call_path[0].place.line) == (5, 4, 6)
    assert (result.related[1].place.line, result.call_path[1].place.line) == (1, 1)


def test_a_related_place_that_was_edited_is_left_out_and_a_call_stays() -> None:
    result = move_finding(finding(4, 2, 2), LineEdit(2, 3, 1), lambda file: file == "/a.py")
    assert result is not None
    assert [entry.place.file for entry in result.related] == ["/lib.py"]
    assert result.call_path[0].place.line == 2


def test_an_edit_of_another_file_changes_nothing() -> None:
    before = finding(4, 3, 5)
    assert move_finding(before, LineEdit(1, 2, 0), lambda file: file == "/other.py") == before


LINES = st.lists(st.sampled_from(["a", "b", "cc", "", "é", "x\fy"]), min_size=1, max_size=8)


@given(st.data(), LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_finding_that_moved_stands_on_the_same_text(data: st.DataObject, lines: list[str], end: str) -> None:
    """Whatever is edited: what is still shown stands on a line that reads as before, and nothing is out of order."""
    text = end.join(lines)
    documents = Documents()
    documents.open(URI, "/a.py", "python", 1, text)
    places: dict[int, Place | None] = {number: place(number) for number in range(1, len(lines) + 1)}
    for version in range(2, 5):
        start = Position(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 3)))
        stop = max(start, Position(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 3))))
        new = "".join(data.draw(st.lists(st.sampled_from(["\n", "\r", "\r\n", "a", "b", "é"]), max_size=4)))
        for edit in documents.change(URI, version, [Change(new, start, stop)]):
            places = {number: found and move_place(found, edit) for number, found in places.items()}
    snapshot = documents.get(URI)
    assert snapshot is not None
    kept = {number: found for number, found in places.items() if found is not None}
    assert [snapshot.index.line(found.line - 1) for found in kept.values()] == [lines[number - 1] for number in kept]
    assert sorted({found.line for found in kept.values()}) == [found.line for found in kept.values()]


def test_edits_since_a_version() -> None:
    documents = Documents()
    documents.open(URI, "/a.py", "python", 1, TEXT)
    for version in range(2, 5):
        documents.change(URI, version, [at(0, 0, "\n")])
    assert [len(documents.edits_since(URI, version) or []) for version in (None, 1, 3, 4)] == [3, 3, 1, 0]
    assert documents.edits_since("file:///closed.py", 1) == []


def test_edits_that_are_forgotten_are_not_known() -> None:
    documents = Documents()
    documents.open(URI, "/a.py", "python", 1, "x\n")
    for version in range(2, EDITS_KEPT + 4):
        documents.change(URI, version, [at(0, 0, str(version % 10), 0, 1)])
    assert documents.edits_since(URI, 1) is None
    assert documents.edits_since(URI, EDITS_KEPT) is not None


def test_what_is_on_disk_is_the_version_that_was_saved() -> None:
    documents = Documents()
    documents.open(URI, "/a.py", "python", 1, TEXT)
    documents.change(URI, 2, [at(0, 0, "\n")])
    assert documents.versions_on_disk() == {URI: 1}
    documents.saved(URI)
    assert documents.versions_on_disk() == {URI: 2}
