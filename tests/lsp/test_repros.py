"""Repros in an editor, with the user's torch: offered at findings and regions, written where the user wants it, run, opened."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from editor import REAL, Editor, capabilities, editor
from programs import ONE, RANGE, write

PROGRAM = """\
import torch


@torch.compile(backend="eager")
def f(x):
    return x * x.max().item()


f(torch.ones(3))
"""
LINE = {"start": {"line": 5, "character": 15}, "end": {"line": 5, "character": 15}}
DECORATOR = {"start": {"line": 3, "character": 2}, "end": {"line": 3, "character": 2}}


async def offered(ed: Editor, uri: str, at: dict[str, Any], only: list[str] | None = None) -> dict[str, Any]:
    context: dict[str, Any] = {"diagnostics": []} if only is None else {"diagnostics": [], "only": only}
    params = {"textDocument": {"uri": uri}, "range": at, "context": context}
    found = await ed.request("textDocument/codeAction", params)
    return {action["title"]: action for action in found if action.get("kind") == "repro"}


async def test_what_is_offered_at_a_finding(ed: Editor, root: Path) -> None:
    """Only where a repro is asked for, and at the lines of the finding."""
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    titles = ["Write a repro for", "Bisect", "Minify a repro for", "Write a unit test for", "Write an issue about"]
    assert list(await offered(ed, uri, RANGE)) == [f"{title} GB0001" for title in titles]
    assert list(await offered(ed, uri, RANGE, ["quickfix"])) == []
    nowhere = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    assert list(await offered(ed, uri, nowhere)) == []


@pytest.mark.nightly
async def test_a_repro_is_offered_written_and_run(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        options = {"python": sys.executable, "run": {"enabled": "always"}}
        ed.answers["window/showMessageRequest"] = lambda _: {"title": "Beside train.py"}
        await ed.initialize(root, options, capabilities=capabilities())
        uri = await ed.open(write(root, PROGRAM))
        await ed.status(state="idle", findings=1)
        assert list(await offered(ed, uri, LINE, ["quickfix"])) == []
        assert list(await offered(ed, uri, DECORATOR)) == ["Write a repro of `f`"]
        action = (await offered(ed, uri, LINE))["Write a repro for GB0124"]
        (root / "repro_GB0124_6.py").write_text("the user's own\n")
        answer = await ed.command(action["command"]["command"], *action["command"]["arguments"])
        assert answer["reproduces"], answer
        assert answer["sentence"].startswith("Reproduces the problem: exit code 1")
        assert answer["uri"].endswith("/repro_GB0124_6_2.py")
        assert "# verified: yes, exit code 1" in (root / "repro_GB0124_6_2.py").read_text()
        assert (root / "repro_GB0124_6.py").read_text() == "the user's own\n"
        kept = await ed.command("compileLens.writeRepro", uri, "GB0124@6", "repros")
        assert kept["uri"] == (root / "repros" / "repro_GB0124_6.py").as_uri()
        loose = await ed.command("compileLens.writeRepro", uri, "GB0124@6", "untitled")
        assert not loose["uri"].startswith(root.as_uri()) and "# verified: yes" in loose["text"]
        assert await ed.command(action["command"]["command"], uri, "GB0001@1") is None
        assert await ed.shut_down() == 0
    assert sorted(path.name for path in root.glob("repro*.py")) == ["repro_GB0124_6.py", "repro_GB0124_6_2.py"]


@pytest.mark.nightly
async def test_from_a_finding_to_a_verdict_a_test_and_an_issue(root: Path) -> None:
    """One action each, with the steps in the progress; nothing is added to the workspace."""
    async with editor(root.parent, REAL) as ed:
        options = {"python": sys.executable, "run": {"enabled": "always"}}
        shown: list[str] = []
        ed.answers["window/showDocument"] = lambda params: shown.append(params["uri"]) or {"success": True}
        await ed.initialize(root, options, capabilities=capabilities())
        uri = await ed.open(write(root, PROGRAM))
        await ed.status(state="idle", findings=1)
        verdict = await ed.command("compileLens.bisectFinding", uri, "GB0124@6")
        assert verdict["status"] in ("found", "unfit"), verdict
        reports = [
            message["params"]["value"].get("message", "")
            for message in ed.received
            if message.get("method") == "$/progress"
        ]
        assert any("Writing a repro" in report for report in reports)
        assert any(": step 1: " in report and "occur" in report for report in reports), reports
        test = await ed.command("compileLens.writeUnitTest", uri, "GB0124@6")
        assert test["belongs"].startswith("test/dynamo/")
        assert "class " in test["text"]
        issue = await ed.command("compileLens.writeIssue", uri, "GB0124@6")
        assert "## Minimal repro" in issue["markdown"]
        assert "## Versions" in issue["markdown"]
        assert str(root) not in issue["markdown"]
        assert await ed.command("compileLens.writeIssue", uri, "GB0001@1") is None

        # canceled in the middle of it
        since = ed.mark()
        request = await ed.begin(
            "workspace/executeCommand", {"command": "compileLens.minifyFinding", "arguments": [uri, "GB0124@6"]}
        )
        report = await ed.wait(
            lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin", since
        )
        await ed.notify("window/workDoneProgress/cancel", {"token": report["params"]["token"]})
        assert await ed.answer(request) is None
    assert sorted(path.name for path in root.iterdir()) == ["train.py"]
