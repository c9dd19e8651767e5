"""An assistant without a model: a fixed policy that uses the tools alone takes broken programs to one graph each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.assistants.assistant import Assistant

pytestmark = [pytest.mark.xdist_group("assistants"), pytest.mark.nightly]
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
MOST_EDITS = 5
TEMPLATE = """\
import logging
import random
import time

import numpy as np
import torch

log = logging.getLogger(__name__)


@torch.compile
def step(x):
    y = x.sin()
{body}
    return y.cos()


step(torch.ones(3))
"""
BODIES = {
    "print": "    print('shape', y.shape)",
    "print-of-a-value": "    print('mean', y.mean())",
    "log": "    log.warning('mean %s', y.mean())",
    "branch": "    if y.sum() > 0:\n        y = y + 1\n    else:\n        y = y - 1",
    "branch-without-else": "    if y.max() > 1:\n        y = y / y.max()",
    "item": "    y = y * y.sum().item()",
    "float-of-a-tensor": "    y = y * float(y.mean())",
    "two-prints": "    print(y)\n    y = y * 2\n    print(y)",
    "print-and-branch": "    print(y)\n    if y.sum() > 0:\n        y = y * 2",
    "requested": "    torch._dynamo.graph_break()",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("broken")
    for name, body in BODIES.items():
        (folder / f"{name}.py").write_text(TEMPLATE.format(body=body))
    return folder


@pytest.fixture(scope="module")
def assistant(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    with Assistant(tmp_path_factory.mktemp("state"), workspace) as connected:
        yield connected


def patched(text: str, diff: str) -> str:
    """``text`` with a unified diff applied, as an assistant reads it in an answer."""
    lines, done, made = text.splitlines(keepends=True), 0, []
    changes = iter(diff.removeprefix("⟪").removesuffix("⟫").splitlines(keepends=True))
    for change in changes:
        if hunk := HUNK.match(change):
            first = int(hunk[1]) - (hunk[2] != "0")
            made += lines[done:first]
            done = first
        elif change.startswith(("---", "+++")) and not made and not done:
            continue
        elif change.startswith("+"):
            made.append(change[1:] if change.endswith("\n") else f"{change[1:]}\n")
        else:
            assert lines[done].rstrip("\n") == change[1:].rstrip("\n")
            made += [lines[done]] if change.startswith(" ") else []
            done += 1
    return "".join([*made, *lines[done:]])


def without_line(text: str, place: str) -> str:
    """``text`` without the line at ``place``: the last resort of the policy, which is judged like any other edit."""
    number = int(place.rsplit(":", 2)[1])
    return "".join(line for at, line in enumerate(text.splitlines(keepends=True), 1) if at != number)


@pytest.mark.parametrize("name", BODIES)
def test_a_broken_program_becomes_one_graph(assistant: Assistant, workspace: Path, name: str) -> None:
    file = workspace / f"{name}.py"
    text = file.read_text()
    assert assistant.ask("check", file=str(file))["summary"]["graph_breaks"] > 0
    for _ in range(MOST_EDITS):
        found = assistant.ask("check", file=str(file), text=text)
        if not found["summary"]["graph_breaks"]:
            break
        broken = next(one for one in found["findings"] if one["kind"] == "graph-break")
        offered = assistant.ask("fixes", file=str(file), text=text, finding=broken["id"], max_tokens=20_000)["fixes"]
        helping = [fix for fix in offered if fix["helps"] and "out of compilation" not in fix["keeps"]]
        text = patched(text, helping[0]["diff"]) if helping else without_line(text, broken["place"])
    judged = assistant.ask("verify_edit", file=str(file), text=text)
    assert (judged["verdict"], judged["results"]) == ("better", "⟪results equal⟫"), text
    assert judged["after"]["summary"]["graphs"] == 1 and judged["after"]["summary"]["graph_breaks"] == 0, text
    assert file.read_text() == TEMPLATE.format(body=BODIES[name])
