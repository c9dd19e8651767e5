"""Files of a trace from another machine: which of this machine they are, and where their lines are now."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.local_files import find_local_files
from compile_lens.trace.break_text import parse_reason
from compile_lens.trace.report import Compilation, CompileReport, GraphBreak, StackFrame

PROGRAM = "import torch\n\n\ndef helper(x):\n    print(x)\n    return x\n\n\ndef step(x):\n    return helper(x) + 1\n"
LINES = PROGRAM.split("\n")


def recorded(file: str = "/cluster/job/pkg/train.py", *, at: int = 5) -> CompileReport:
    """A report of ``step``, which breaks at line ``at``."""
    stack = tuple(StackFrame(file, line, "f", LINES[line - 1].strip()) for line in (10, 6, at))
    broken = GraphBreak("0/0", 0, parse_reason("Graph break: print"), file, at, stack, "")
    return CompileReport(compilations=(Compilation("0/0", "step", file, 9, call_stack=stack[:1], breaks=(broken,)),))


def place(folder: Path, text: str = PROGRAM, name: str = "src/pkg/train.py") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_file_is_found_by_the_end_of_its_path_and_its_lines(tmp_path: Path) -> None:
    file = place(tmp_path)
    place(tmp_path, "print('another program')\n", "train.py")
    report = recorded()
    local = find_local_files(report, (), (str(tmp_path),)).localize(report)
    (compilation,) = local.compilations
    assert (compilation.file, compilation.line) == (str(file), 9)
    assert (compilation.breaks[0].file, compilation.breaks[0].line) == (str(file), 5)
    assert {frame.file for frame in compilation.breaks[0].stack} == {str(file)}


def test_a_file_of_that_name_with_other_lines_is_another_file(tmp_path: Path) -> None:
    place(tmp_path, "print('another program')\n")
    report = recorded()
    assert find_local_files(report, (), (str(tmp_path),)).localize(report) == report


def test_the_functions_prove_a_file_whose_lines_have_changed(tmp_path: Path) -> None:
    """With a folder of the path: ``forward`` is in many files."""
    report = recorded()
    texts = (
        PROGRAM.replace("print(x)", "log(x)").replace("helper(x) + 1", "helper(x) + 2").replace("return x", "return +x")
    )
    file = place(tmp_path, texts + "\n\ndef f():\n    pass\n")
    assert find_local_files(report, (), (str(tmp_path),)).files["/cluster/job/pkg/train.py"].path == str(file)
    file.rename(tmp_path / "train.py")
    assert find_local_files(report, (), (str(tmp_path),)).files == {}


def test_a_map_comes_first_even_where_the_text_is_another(tmp_path: Path) -> None:
    place(tmp_path)
    chosen = place(tmp_path, "# nothing of it\n", "old/pkg/train.py")
    files = find_local_files(recorded(), (("/cluster/job", str(tmp_path / "old")),), (str(tmp_path),))
    assert files.files["/cluster/job/pkg/train.py"].path == str(chosen)


def test_lines_that_moved_are_followed_and_told(tmp_path: Path) -> None:
    file = place(tmp_path, "# a comment\n# and another\n" + PROGRAM)
    report = recorded()
    files = find_local_files(report, (), (str(tmp_path),))
    assert [broken.line for broken in files.localize(report).breaks] == [7]
    assert files.as_recorded(str(file), 7) == (5, False)
    assert list(files.notes()) == ["train.py has changed since the trace was recorded: 3 lines found elsewhere."]


def test_a_line_that_is_gone_is_told(tmp_path: Path) -> None:
    file = place(tmp_path, PROGRAM.replace("print(x)", "log(x)"))
    report = recorded()
    files = find_local_files(report, (), (str(tmp_path),))
    assert files.as_recorded(str(file), 5) == (5, True)
    assert list(files.notes()) == ["train.py has changed since the trace was recorded: 1 line no longer there."]


def test_paths_of_windows_are_found(tmp_path: Path) -> None:
    file = place(tmp_path)
    files = find_local_files(recorded("C:\\job\\pkg\\train.py"), (), (str(tmp_path),))
    assert files.files["C:\\job\\pkg\\train.py"].path == str(file)


def test_libraries_are_not_looked_for(tmp_path: Path) -> None:
    place(tmp_path)
    report = recorded("/cluster/env/lib/python3.12/site-packages/pkg/train.py")
    assert find_local_files(report, (), (str(tmp_path),)).files == {}
