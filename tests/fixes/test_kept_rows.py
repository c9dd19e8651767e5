"""What the benchmark of repairs keeps: a part can be renewed, and the rest stays."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.repairs.kept import KEPT, Row, digest, is_current, of_present_programs, read_rows, renewed, write_rows
from benchmarks.repairs.page import write_page
from benchmarks.repairs.programs import SEEN, UNSEEN, Program
from benchmarks.repairs.situations import situations

ONE, TWO, NEW = Program(SEEN, "one", "a = 1\n"), Program(UNSEEN, "two", "b = 2\n"), Program(SEEN, "new", "c = 3\n")


def row(program: Program, code: str, commit: str = "abc") -> Row:
    return Row(program.group, program.name, digest(program), "recompile", code, "m", commit=commit)


def test_rows_of_one_program_are_renewed_where_they_were(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    write_rows([row(ONE, "a"), row(ONE, "b"), row(TWO, "c")], file)
    write_rows(renewed(read_rows(file), ONE, [row(ONE, "d")]), file)
    write_rows(renewed(read_rows(file), NEW, [row(NEW, "e")]), file)
    assert [each.code for each in read_rows(file)] == ["d", "c", "e"]
    assert [each.code for each in of_present_programs(read_rows(file), (NEW, ONE))] == ["e", "d"]
    assert list(tmp_path.iterdir()) == [file]


def test_processes_that_change_rows_at_once_lose_none(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    program = (
        "import sys\nfrom pathlib import Path\nfrom benchmarks.repairs.kept import Row, changing\n"
        "for number in range(25):\n"
        "    with changing(Path(sys.argv[1])) as rows:\n"
        "        rows.append(Row('seen', f'{sys.argv[2]}{number}', '', '', '', ''))\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, str(file), name]) for name in "abc"]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert len({each.program for each in read_rows(file)}) == 75


def test_a_plain_run_stays_as_long_as_the_fixed_text_is_the_same() -> None:
    ran = replace(row(ONE, "a"), fixed="f1", plain="0 breaks")
    again = renewed([ran], ONE, [replace(row(ONE, "a"), fixed="f1"), replace(row(ONE, "b"), fixed="f2")])
    assert [each.plain for each in again] == ["0 breaks", ""]
    assert [each.plain for each in renewed([replace(ran, fixed="")], ONE, [row(ONE, "a")])] == [""]


def test_a_program_is_run_again_if_its_text_or_the_commit_is_another() -> None:
    rows = [row(ONE, "a", commit="abc")]
    assert is_current(rows, ONE)
    assert is_current(rows, ONE, "abc")
    assert not is_current(rows, ONE, "def")
    assert not is_current(rows, Program(ONE.group, ONE.name, "a = 2\n"))
    assert not is_current(rows, TWO)


def test_no_page_is_written_without_rows() -> None:
    with pytest.raises(ValueError, match="no rows"):
        write_page([])


def test_the_repository_has_rows_with_their_version() -> None:
    assert KEPT.exists()
    assert all(each.commit and each.day for each in read_rows())


def test_models_of_a_library_count_in_the_ranking_and_not_among_the_fixes() -> None:
    own = Row(
        "seen",
        "a",
        "",
        "recompile",
        "recompile",
        "Recompiled `f`: size 0 of `x` changed (1 → 2).",
        fix="pad",
        fix_kind="change",
    )
    of_model = replace(own, group="diffusers", program="UNet", fix="", fix_kind="", plain="diffusers 1.0")
    broken = replace(of_model, program="Lumina", kind="graph-break", code="GB0033", message="Graph break")
    page = situations([own], [of_model, broken])
    assert "| recompile: a size | 1 | 1 | 1 | 1 | 0 | 0 | 0 | 0 | `pad` |" in page
    assert "| `GB0033` Data dependent operator | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | – |" in page
    assert "1 of them break (Lumina)" in page
