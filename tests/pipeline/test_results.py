"""What is known of each file: runs replace what they found before, and findings go with the run that made them."""

from __future__ import annotations

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place, RegionSummary, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.outcome_parts import CompiledFunction, RecordedCall
from compile_lens.documents.documents import file_key
from compile_lens.documents.moves import LineEdit
from compile_lens.pipeline.results import Results

A, B, LIB = "/ws/a.py", "/ws/b.py", "/ws/lib.py"
URI_A, URI_B = "file:///ws/a.py", "file:///ws/b.py"


def finding(file: str, line: int, code: str = "GB0001") -> Finding:
    return Finding(code, Kind.GRAPH_BREAK, Severity.WARNING, "message", Place(file, line, 1, line, 5))


def outcome(file: str, *findings: Finding, final: bool = True, regions: tuple[RegionSummary, ...] = ()) -> Outcome:
    return Outcome(file, "py", "2.13", "dynamo", "script", Status.OK, 1.0, regions, findings, final=final)


def no_edits(_: str) -> list[LineEdit]:
    return []


def lines(results: Results, file: str) -> list[int]:
    return [found.place.line for found in results.findings(file_key(file))]


def test_the_final_outcome_takes_the_place_of_the_last_run() -> None:
    results = Results()
    assert results.publish(URI_A, outcome(A, finding(A, 3)), no_edits) == {A}
    assert results.publish(URI_A, outcome(A, finding(A, 7)), no_edits) == {A}
    assert lines(results, A) == [7]


def test_a_partial_outcome_adds_to_what_the_last_run_found() -> None:
    results = Results()
    results.publish(URI_A, outcome(A, finding(A, 3), finding(A, 9)), no_edits)
    results.publish(URI_A, outcome(A, finding(A, 3), finding(A, 5), final=False), no_edits)
    assert lines(results, A) == [3, 5, 9]
    results.publish(URI_A, outcome(A, finding(A, 5)), no_edits)
    assert lines(results, A) == [5]


def test_an_outcome_that_changes_nothing_changes_no_file() -> None:
    results = Results()
    results.publish(URI_A, outcome(A, finding(A, 3)), no_edits)
    stamp = results.stamp(A)
    assert results.publish(URI_A, outcome(A, finding(A, 3)), no_edits) == set()
    assert results.stamp(A) == stamp


def test_edits_made_during_the_run_move_what_it_found() -> None:
    results = Results()
    results.publish(URI_A, outcome(A, finding(A, 1), finding(A, 3)), lambda _: [LineEdit(2, 2, 4)])
    assert lines(results, A) == [1, 7]


def test_what_cannot_be_placed_is_not_shown() -> None:
    results = Results()
    results.publish(URI_A, outcome(A, finding(A, 1), finding(LIB, 3)), lambda key: None if key == A else [])
    assert lines(results, A) == []
    assert lines(results, LIB) == [3]


def test_findings_in_another_file_go_with_the_run_that_made_them() -> None:
    results = Results()
    results.publish(URI_A, outcome(A, finding(LIB, 3)), no_edits)
    results.publish(URI_B, outcome(B, finding(LIB, 3), finding(LIB, 8)), no_edits)
    assert lines(results, LIB) == [3, 8]
    assert results.total() == 2
    assert results.forget(URI_B) == {LIB}
    assert lines(results, LIB) == [3]
    assert results.forget(URI_A) == {LIB}
    assert results.files() == set()
    assert results.forget(URI_A) == set()


def test_an_edit_moves_findings_of_every_run_and_ends_those_it_touches() -> None:
    results = Results()
    results.publish(URI_A, outcome(A, finding(LIB, 3), finding(LIB, 5)), no_edits)
    results.publish(URI_B, outcome(B, finding(LIB, 8)), no_edits)
    assert results.edit(LIB, [LineEdit(3, 4, 2)]) == {LIB}
    assert lines(results, LIB) == [6, 9]
    assert results.edit(LIB, [LineEdit(20, 21, 2)]) == set()


def test_regions_move_and_end_like_findings() -> None:
    region = RegionSummary("f", Place(A, 3, 1, 3, 15), graphs=2)
    results = Results()
    results.publish(URI_A, outcome(A, regions=(region,)), no_edits)
    results.edit(A, [LineEdit(1, 1, 1)])
    assert [entry.summary.place.line for entry in results.regions(A)] == [4]
    results.edit(A, [LineEdit(4, 5, 1)])
    assert results.regions(A) == []


def test_the_outcome_of_a_moved_text_is_whole_unless_words_name_its_lines() -> None:
    compiled = (CompiledFunction("/a.py", "f", 5, 1, 2), CompiledFunction("/b.py", "g", 5, 1, 2))
    recorded = (RecordedCall("/a.py", "f", (("x", "float32[3]"),)),)
    known = replace(outcome("/a.py", finding("/a.py", 6)), compiled=compiled, recorded=recorded)
    results = Results()
    results.publish("a", known, no_edits)
    results.edit(file_key("/a.py"), [LineEdit(1, 1, 2)])
    moved = results.moved("a")
    assert moved is not None and moved.compiled is not None
    assert [one.line for one in moved.compiled] == [7, 5] and moved.findings[0].place.line == 8
    results.edit(file_key("/a.py"), [LineEdit(7, 8, 1)])
    assert results.moved("a") is None  # the line of the function that was compiled is another
    for words, is_whole in (("see b.py:12", True), ("see a.py:12", False), ("on line 3", False)):
        told = replace(finding("/a.py", 6), detail=words)
        results.publish("a", outcome("/a.py", told), no_edits)
        results.edit(file_key("/a.py"), [LineEdit(1, 1, 2)])
        assert (results.moved("a") is not None) is is_whole, words
