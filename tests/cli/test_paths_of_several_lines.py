"""Whatever a command says of a path whose name has a newline, no line begins with what follows it: it would look like one of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command import Warm

NAME = "a\nfine.py:1:1: nothing amiss \x1b[31m"
FILE = "a\n\u2028b.py"


@pytest.mark.usefixtures("warm_command")
@pytest.mark.parametrize(
    "command",
    [
        ["check", "none.py"],
        ["check", "--baseline", "none.json", "{file}"],
        ["fix", "none.py"],
        ["vary", "none.py"],
        ["entries", "none.py"],
        ["entries", "{file}"],
        ["predict", "none.py"],
        ["predict", "{file}"],
        ["trace", "none"],
        ["stages", "none"],
        ["kernels", "none"],
        ["report", "none", "--output", "x.html"],
        ["diff", "none", "other"],
        ["bisect", "none.py"],
        ["rebisect", "none.py"],
        ["minify", "none.py"],
        ["repro", "none.py"],
        ["logs", "none.py"],
        ["run", "--", "./none"],
        ["consent", "revoke", "."],
        ["cache", "stat"],
        ["cache", "limit", "1"],
    ],
    ids=lambda command: " ".join(command),
)
def test_no_line_begins_with_a_part_of_a_name(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(folder / "cache"))
    (folder / FILE).write_text("def double(x):\n    return 2 * x\n")
    for words in (
        command,
        [str(folder / word) if word.startswith(("none", "other", ".")) else word for word in command],
    ):
        ran = Warm([word.format(file=str(folder / FILE)) for word in words], folder)
        lines = (ran.out + ran.err).splitlines()
        assert not [line for line in lines if line.startswith(("fine.py", "b.py"))], lines
        assert "\x1b" not in ran.out + ran.err
        assert "\u2028" not in ran.out + ran.err
