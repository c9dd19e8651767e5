"""``compile-lens explain`` as a user runs it, in a fresh cache."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command import Result


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def other_release(tmp_path: Path) -> Path:
    """An interpreter with a torch of another release, as far as its files tell; it cannot be imported."""
    package = tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "torch"
    package.mkdir(parents=True)
    (package / "version.py").write_text("__version__ = '2.11.0+cu130'\n")
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\necho 'torch is not installed' >&2\nexit 3\n")
    python.chmod(0o755)
    return python


def test_the_first_answer_is_of_the_bundled_tables_and_reads_nothing(cache: Path, tmp_path: Path) -> None:
    done = Result(["explain", "TORCH_LOGS=fusion"], tmp_path)
    assert done.code == 0 and done.err == ""
    assert done.out.startswith("**`TORCH_LOGS=fusion`**") and "bundled table" in done.out
    assert not list(cache.glob("knowledge/*"))


def test_another_release_is_named(cache: Path, tmp_path: Path, other_release: Path) -> None:
    done = Result(["explain", "Pointwise", "--python", str(other_release)], tmp_path)
    assert done.code == 0
    assert done.err == (
        "compile-lens: This is about torch 2.13.0+cpu; torch 2.11.0+cu130 is installed. "
        "Add --installed to read that one (once, about 20 s).\n"
    )
    assert "torch 2.13.0+cpu, bundled table; torch 2.11.0+cu130 is installed" in done.out


def test_an_unknown_name_is_looked_for_in_the_installed_release(
    cache: Path, tmp_path: Path, other_release: Path
) -> None:
    done = Result(["explain", "Pointwize", "--python", str(other_release)], tmp_path)
    assert done.code == 1
    assert "Reading torch 2.11.0+cu130 (once, about 20 s) …" in done.err
    assert (
        "The tables of torch 2.11.0+cu130 could not be read: torch is not installed. Using the bundled tables."
        in done.err
    )
    assert "Similar names: Pointwise" in done.err


def test_installed_and_bundled_exclude_each_other(tmp_path: Path) -> None:
    done = Result(["explain", "Pointwise", "--installed", "--bundled"], tmp_path)
    assert done.code == 2 and "Give --installed or --bundled, not both." in done.err
