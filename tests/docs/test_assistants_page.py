"""docs/assistants.md: its tools exist, its configurations are read, and each command of the instruction file runs."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command import Warm
from tests.docs.pages import ROOT, blocks

from compile_lens.assistants.tools import BY_NAME

PAGE = ROOT / "docs" / "assistants.md"
INSTRUCTIONS = ROOT / "examples" / "AGENTS.md"
TOMLLIB = sys.version_info >= (3, 11)
BROKEN = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x.shape)\n    return x\n\n\nf(torch.ones(2))\n"


def test_the_table_lists_the_tools() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name, _ in rows} == set(BY_NAME)
    assert {name for name, what in rows if "runs nothing" not in what and name != "trace"} == {
        tool.name for tool in BY_NAME.values() if tool.runs
    }


def test_each_configuration_starts_the_server() -> None:
    found = []
    for block in blocks(PAGE):
        if block.language == "json":
            [servers] = json.loads(block.text).values()
            found.append((servers["compile-lens"]["command"], servers["compile-lens"]["args"]))
        elif block.language == "toml" and TOMLLIB:
            import tomllib

            server = tomllib.loads(block.text)["mcp_servers"]["compile-lens"]
            found.append((server["command"], server["args"]))
        elif block.language == "sh":
            command, *arguments = shlex.split(block.text.partition(" -- ")[2])
            found.append((command, arguments))
    assert len(found) == 3 + TOMLLIB and all(one == ("compile-lens", ["mcp"]) for one in found)


def test_the_page_shows_the_file() -> None:
    [shown] = [block.text for block in blocks(PAGE) if block.language == "markdown"]
    assert shown == INSTRUCTIONS.read_text(encoding="utf-8")


@pytest.mark.usefixtures("warm_command")
def test_each_command_of_the_instructions_runs(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BROKEN)
    git = ("git", "-c", "user.name=tests", "-c", "user.email=tests@example.com")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
    written = re.findall(r"`(compile-lens [^`]+)`", INSTRUCTIONS.read_text(encoding="utf-8"))
    assert len(written) == 3
    for command in written:
        done = Warm(shlex.split(command.replace("FILE", "model.py"))[1:], tmp_path)
        assert done.code in (0, 1) and done.out, done.err
    assert json.loads(Warm(["check", "model.py", "--format", "json"], tmp_path).out)["runs"]
    ignored = "    # compile-lens: ignore[GB0059] wanted\n    print(x.shape)\n"
    (tmp_path / "model.py").write_text(BROKEN.replace("    print(x.shape)\n", ignored))
    assert "GB0059" not in Warm(["check", "model.py"], tmp_path).out
