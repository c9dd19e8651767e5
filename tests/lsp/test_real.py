"""The whole way, with the user's Python and torch: open, see, edit, save, cancel, kill."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest
from editor import REAL, Editor, capabilities, editor
from programs import until

from processes import Mark

PROGRAM = """\
import torch


@torch.compile
def step(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


step(torch.ones(3))
"""
BREAK = {"start": {"line": 6, "character": 7}, "end": {"line": 6, "character": 18}}
ENDLESS = (
    PROGRAM
    + """
import pathlib, subprocess, sys, time

subprocess.Popen(["sleep", "1000"])
pathlib.Path(sys.argv[1]).touch()
while True:
    time.sleep(1)
"""
)
ALWAYS = {"python": sys.executable, "run": {"enabled": "always"}}


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Mark:
    """Known to every process that the test starts, and to theirs."""
    found = Mark()
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found


def write(root: Path, text: str) -> Path:
    file = root / "train.py"
    file.write_text(text)
    return file


async def test_from_opening_a_file_to_the_last_process(root: Path, mark: Mark) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, ALWAYS)
        uri = await ed.open(write(root, PROGRAM))
        (found,) = await ed.published(uri)
        assert (found["range"], found["code"], found["source"]) == (BREAK, "GB0170", "compile-lens")
        await ed.status(state="idle", findings=1)

        finding = await ed.hover(uri, 6, 9)
        assert finding is not None and finding["range"] == BREAK
        assert "torch.cond" in finding["contents"]["value"] and f"{uri}#L12" in finding["contents"]["value"]
        region = await ed.hover(uri, 3, 5)
        assert region is not None and "2 graphs · 1 graph break" in region["contents"]["value"]

        await ed.insert(uri, 2, 0, "# a line above\n")
        await ed.published(uri, lambda found: bool(found) and found[0]["range"]["start"]["line"] == 7)

        option = "torch._dynamo.config.recompile_limit = 3"
        fixed = PROGRAM.replace("y.sum() > 0", "x.shape[0] > 0").replace("\n\nstep(", f"\n{option}\nstep(")
        write(root, fixed)
        await ed.change(uri, 3, {"text": fixed})
        since = ed.mark()
        await ed.save(uri)
        await ed.status(since, state="idle", findings=0)
        known = await ed.hover(uri, fixed.splitlines().index(option), len("torch._dynamo.config.rec"))
        assert known is not None and "- In the last run of this file: `3` (default `8`)" in known["contents"]["value"]
        assert len(mark.alive()) >= 2
        assert await ed.shut_down() == 0
        assert mark.none_left()


async def test_cancel_and_kill_leave_no_process(root: Path, mark: Mark) -> None:
    begun = root.parent / "begun"
    options = {
        "python": sys.executable,
        "run": {"enabled": "always", "arguments": [str(begun)]},
        "sandbox": {"allowWrite": [str(root.parent)]},
    }
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, options)
        uri = await ed.open(write(root, ENDLESS))
        await until(begun.exists)
        running = set(mark.alive())
        assert await ed.command("compileLens.cancel", uri) is True
        await until(lambda: len(mark.alive()) <= len(running) - 2)  # the run and the child that it started
        begun.unlink()
        await ed.save(uri)
        await until(begun.exists)
        ed.process.kill()
        await ed.process.wait()
        assert mark.none_left()


async def test_before_the_answer_nothing_but_the_import_of_torch_is_started(root: Path, mark: Mark) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"python": sys.executable}, capabilities=capabilities(pull=True))
        uri = await ed.open(write(root, PROGRAM))
        question = await ed.wait(lambda message: message.get("method") == "window/showMessageRequest")
        # in a workspace that the editor calls trusted
        others = [psutil.Process(pid).cmdline() for pid in mark.alive() if pid != ed.process.pid]
        assert [Path(line[-1]).name for line in others] in ([], ["boot.py"])
        await ed.send({"id": question["id"], "result": {"title": "Allow"}})
        await ed.status(state="idle", findings=1)
        assert [item["range"] for item in (await ed.pull(uri))["items"]] == [BREAK]


async def test_a_syntax_error_and_an_exception_are_findings(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, ALWAYS)
        uri = await ed.open(write(root, PROGRAM + "raise ValueError('mine')\n"))
        found = await ed.published(uri, lambda found: len(found) == 2)
        assert ["mine" in entry["message"] for entry in found] == [False, True]
        since = ed.mark()
        await ed.change(uri, 2, {"text": PROGRAM.replace("return y + 1", "return y +")})
        await ed.save(uri)
        (broken,) = await ed.published(uri, lambda found: len(found) == 1 and found[0]["code"] != "GB0170", since)
        assert broken["range"]["start"]["line"] == 7
        assert await run_again(ed, uri, 3, PROGRAM) == [BREAK]


async def run_again(ed: Editor, uri: str, version: int, text: str) -> list[object]:
    since = ed.mark()
    await ed.change(uri, version, {"text": text})
    await ed.save(uri)
    return [
        entry["range"]
        for entry in await ed.published(uri, lambda found: [f["code"] for f in found] == ["GB0170"], since)
    ]
