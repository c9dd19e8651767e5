"""Which files a program is made of, whatever its imports name."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.imported_files import files_of
from compile_lens.pipeline.workspace import mentioning


def test_a_module_whose_name_is_too_long_is_none(tmp_path: Path) -> None:
    file, other = tmp_path / "model.py", tmp_path / "other.py"
    file.write_text(f"import {'n' * 300}, other\nfrom {'.'.join(['p'] * 3_000)} import x\nfrom {'n' * 300} import y\n")
    other.write_text("")
    assert set(files_of(file)) == {file, other}


def test_a_file_of_brackets_is_no_test(tmp_path: Path) -> None:
    """A search in what is no program takes time that grows with its square, in which an editor gets no answer."""
    (tmp_path / "model.py").write_text("")
    (tmp_path / "test_brackets.py").write_text("import model\n" + "[" * 300_000)
    (tmp_path / "test_model.py").write_text("import model\n" * 6_000)
    (tmp_path / "test_typed.py").write_text("import model\nmodel.f(\n")
    found = [Path(file.path).name for file in mentioning(tmp_path / "model.py", tmp_path)]
    assert found == ["test_model.py", "test_typed.py"]
