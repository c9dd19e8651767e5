"""Which files a program is made of, whatever its imports name."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.imported_files import files_of


def test_a_module_whose_name_is_too_long_is_none(tmp_path: Path) -> None:
    file, other = tmp_path / "model.py", tmp_path / "other.py"
    file.write_text(f"import {'n' * 300}, other\nfrom {'.'.join(['p'] * 3_000)} import x\nfrom {'n' * 300} import y\n")
    other.write_text("")
    assert set(files_of(file)) == {file, other}
