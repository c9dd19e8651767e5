"""The tutorial, step by step: its program, its edits, its commands, and the output that it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.command import Warm
from tests.docs.pages import ROOT, blocks

pytestmark = pytest.mark.usefixtures("warm_command")
PAGE = ROOT / "docs" / "tutorial.md"
PROGRAM = "train.py"
# a row of what to fix first; on a slow machine recompiles that cost seconds are among the three
RANKED = re.compile(r"^ +\d+\. ")


def edited(text: str, diff: str) -> str:
    """``text`` with a diff applied that has no line numbers."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if not line.startswith("+"))
    after = "".join(line[1:] for line in lines if not line.startswith("-"))
    assert text.count(before) == 1, before
    return text.replace(before, after)


def shows(output: str, line: str) -> bool:
    """Whether ``output`` has a line; ``…`` stands for anything."""
    if RANKED.match(line) and re.search(rf"{RANKED.pattern}.* s of compile time", output, re.MULTILINE):
        return True
    pattern = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
    return re.search(rf"^{pattern}$", output, re.MULTILINE) is not None


def test_the_tutorial_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    program, output, shown = tmp_path / PROGRAM, "", 0
    for block in blocks(PAGE):
        if block.language == "python":
            program.write_text(block.text)
        elif block.language == "diff":
            program.write_text(edited(program.read_text(), block.text))
        elif block.language == "text":
            for line in block.text.splitlines():
                assert shows(output, line), f"{line}\nis not in\n{output}"
                shown += 1
        else:
            for command in block.text.splitlines():
                done = Warm(shlex.split(command)[1:], tmp_path)
                assert done.code == 0, done.out + done.err
                output = done.out
    assert shown > 10
