"""Which files of a folder are analyzed: as git says, and in time whatever a `.gitignore` says."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.documents.gitignore import python_files
from growth import grows_with_length

FILES = [
    "a.py",
    "ab.py",
    "x/a.py",
    "x/y/a.py",
    "x/y/z/b.py",
    "build/c.py",
    "s p.py",
    "st*r.py",
    "x/build/d.py",
    "q[1].py",
]
RULES = [
    "*.py", "a*", "/a.py", "x/", "x/**", "**/a.py", "x/**/a.py", "x/*/a.py", "**/y", "build/", "!a.py", "?b.py", "[a-b].py", "[!a].py",
    "[^a].py", "[a.py", "st\\*r.py", "s\\ p.py", "s p.py   ", "a.py\\ ", "# a.py", "\\a.py", "x/**/**/b.py", "**", "/**", "**/",
    "x/y/**/b.py", "q\\[1\\].py", "q[[]1].py", "*.py\n!/x/\n!a.py", "x/*\n!x/y", "[]a].py", "**.py", "a**.py", "*/a.py",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")
def test_the_rules_mean_what_they_mean_to_git(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for rules in RULES:
        (folder / ".gitignore").write_text(rules + "\n")
        listed = [
            "git",
            "-C",
            str(folder),
            "-c",
            "core.quotePath=off",
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
        ]
        said = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
        of_git = {name for name in said if name.endswith(".py")}
        assert {path.relative_to(folder).as_posix() for path in python_files(folder, set())} == of_git, rules


SLOW_RULES: dict[str, Callable[[int], str]] = {
    "letters that are none": lambda length: "[b-a].py\n" * (length // 9),
    "many letters": lambda length: "*a" * (length // 2) + "b",
    "many folders": lambda length: "**/" * (length // 3) + "b",
    "folders below folders": lambda length: "*/**/" * (length // 5) + "b",
    "brackets that nothing closes": lambda length: "[a" * (length // 2),
    "a long name": lambda length: "x" * length,
    "blanks": lambda length: " " * length + "x",
    "any letters": lambda length: "?*" * (length // 2),
    "many rules": lambda length: "\n".join(f"*{n}*{n}" for n in range(length // 12)),
    "many rules of many letters": lambda length: f"{'*a' * 100}b\n" * (length // 202),
}


@pytest.mark.parametrize("rules", SLOW_RULES.values(), ids=SLOW_RULES)
def test_no_rule_takes_long(rules: Callable[[int], str], folder: Path) -> None:
    long = folder / ("a" * 250)
    long.mkdir()
    (long / ("a" * 200 + ".py")).touch()

    def prepared(length: int) -> Callable[[], object]:
        of = folder.parent / f"{folder.name}-{length}"
        shutil.copytree(folder, of)
        (of / ".gitignore").write_text(rules(length))

        def find() -> None:
            assert len(list(python_files(of, set()))) == len(FILES) + 1

        return find

    assert grows_with_length(prepared, 2_000_000)


def test_folders_nested_deeper_than_calls_may_be(tmp_path: Path) -> None:
    deep = str(tmp_path / "top")
    Path(deep).mkdir()
    for _ in range(300):
        deep += "/d"
        Path(deep).mkdir()
    Path(deep, "a.py").touch()
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack()) + 250)
        assert list(python_files(tmp_path, set())) == [Path(deep, "a.py")]
    finally:
        sys.setrecursionlimit(limit)
        remove_folder(str(tmp_path / "top"))


def test_rules_that_are_left_out_are_told(folder: Path) -> None:
    file = folder / ".gitignore"
    for text, is_told in (("a\n" * 20_000, True), ("x" * 5000, True), ("x" * 9_000_000, True), ("a\n", False)):
        file.write_text(text)
        incomplete: set[Path] = set()
        list(python_files(folder, incomplete))
        assert incomplete == ({file} if is_told else set())
