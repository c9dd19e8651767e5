"""Quick fixes as an editor meets them, with the user's torch: checked in the background, told in their titles, applied."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from editor import REAL, Editor, capabilities, editor
from programs import ONE, log, logged, ran, until, write
from tests.processes import VARIABLE, Mark

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.lsp.fixes import Fixes
from compile_lens.syntax.tree import parse
from compile_lens.workers.room import has_room

PROGRAM = """\
import torch


@torch.compile
def f(x):
    return x * 2


for n in (3, 4, 5):
    f(torch.ones(n))
"""
NO_ROOM = "the machine has no room for a second standby"
TIME = re.compile(r"seconds=[\d.]+")
AT = {"start": {"line": 4, "character": 6}, "end": {"line": 4, "character": 6}}


async def actions(ed: Editor, uri: str) -> dict[str, Any]:
    params = {"textDocument": {"uri": uri}, "range": AT, "context": {"diagnostics": [], "only": ["quickfix"]}}
    return {action["title"]: action for action in await ed.request("textDocument/codeAction", params)}


def checked(root: Path) -> list[str]:
    """What the log says of each fix that was tried."""
    return [line for line in log(root) if "compile_lens.lsp.fix_checks" in line and "FixEffect(" in line]


async def until_all_are_tried(ed: Editor, root: Path, uri: str) -> None:
    """Wait until every fix of the text as it is has been tried. Several may come to their end at the same moment."""
    deadline = time.monotonic() + 120
    while "results equal" not in (titles := " ".join(await actions(ed, uri))) or "(not verified" in titles:
        assert time.monotonic() < deadline, f"they were never all tried:\n{chr(10).join(log(root))}"
        await asyncio.sleep(0.05)


async def until_checked(root: Path, condition: Callable[[], bool]) -> None:
    """Wait for what is checked; where it does not come, say what the server said."""
    await until(condition, lambda: "\n".join(log(root)))


async def test_a_checked_fix_says_what_it_does_and_does_it(root: Path) -> None:
    said = capabilities(workspace={"workspaceEdit": {"documentChanges": True}})
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"python": sys.executable, "run": {"enabled": "always"}}, capabilities=said)
        uri = await ed.open(write(root, PROGRAM))
        await ed.status(state="idle", findings=1)
        await until_all_are_tried(ed, root, uri)
        found = await actions(ed, uri)
        title = "Compile with `dynamic=True`: 1 → 0 recompiles, 2 → 1 graph, results equal"
        assert title in found
        assert [title for title, action in found.items() if action.get("isPreferred")] == [title]
        assert list(found)[-1] == "Ignore this recompile" and "isPreferred" not in found["Ignore this recompile"]
        (change,) = found[title]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        (edit,) = change["edits"]
        # a title speaks of the text that was checked
        await ed.insert(uri, 2, 7, "# typed\n")
        why = "the text has changed since the run"
        assert f"Compile with `dynamic=True` (not verified: {why})" in await actions(ed, uri)
        await ed.change(uri, 3, {"text": PROGRAM})
        since = ed.mark()
        await ed.change(uri, 4, {"range": edit["range"], "text": edit["newText"]})
        await ed.save(uri)
        await ed.status(since, state="idle", findings=0)
        assert await ed.shut_down() == 0


async def test_without_the_users_word_nothing_is_checked(root: Path) -> None:
    options = {"python": sys.executable, "run": {"enabled": "never"}}
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, options)
        uri = await ed.open(write(root, PROGRAM))
        await ed.command("compileLens.analyze", uri)
        assert "Compile with `dynamic=True` (not verified: background runs are not allowed)" in await actions(ed, uri)
        assert checked(root) == []


async def test_a_run_ends_the_check_and_its_end_begins_it_again(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE + "# check hangs\n"))
    await logged(root, "check train.py unsaved=True argv=[] depth=dynamo")
    await ed.save(uri)
    await logged(root, "cancelled train.py")
    await ran(root, 2)
    ended = log(root).index("cancelled train.py")
    await until(lambda: any(line.startswith("check ") for line in log(root)[ended:]))


async def test_permission_that_is_revoked_ends_the_check(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE + "# check hangs\n"))
    await logged(root, "check train.py unsaved=True argv=[] depth=dynamo")
    await ed.command("compileLens.revokeWorkspace", uri)
    await logged(root, "cancelled train.py")


async def test_a_fix_that_was_taken_comes_first_until_it_is_forgotten(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        pages = capabilities(experimental={"compileLensPages": True})
        await ed.initialize(root, {"python": sys.executable, "run": {"enabled": "never"}}, capabilities=pages)
        uri = await ed.open(write(root, PROGRAM))
        await ed.request("workspace/executeCommand", {"command": "compileLens.analyze", "arguments": [uri]})
        offered = await actions(ed, uri)
        *_, last, ignoring = offered
        taken = offered[last]["command"]
        assert taken["command"] == "compileLens.fixTaken" and taken["arguments"][1].startswith("recompile#")
        for _ in range(2):
            await ed.request("workspace/executeCommand", offered[ignoring]["command"])
        await ed.request("workspace/executeCommand", taken)
        assert next(iter(await actions(ed, uri))) == ignoring
        page = await ed.request("workspace/executeCommand", {"command": "compileLens.fixChoices", "arguments": [uri]})
        assert "| `recompile` | `ignore` | 2 |" in page["markdown"]
        await ed.request("workspace/executeCommand", {"command": "compileLens.forgetFixChoices", "arguments": [uri]})
        assert list(await actions(ed, uri)) == list(offered)


FLAG = """\
import torch


@torch.compile
def f(x):
    some = (x > 1).any().item()
    return x if some else x[:1]
"""


def test_the_command_of_a_fix_names_it_among_those_of_the_same_rule() -> None:
    place = Place("train.py", 6, 12, 6, 32)
    finding = Finding("GB0124", Kind.GRAPH_BREAK, Severity.WARNING, "m", place)
    server: Any = SimpleNamespace(results=SimpleNamespace(findings=lambda _: [finding], torch=lambda _: ""))
    checks: Any = SimpleNamespace(effect=lambda *_: None, why_not=lambda _: "")
    habits: Any = SimpleNamespace(in_order=lambda _, candidates: candidates)
    fixes = Fixes(server, checks, SimpleNamespace(tree=lambda _: parse(FLAG)), habits)  # type: ignore[arg-type]
    snapshot: Any = SimpleNamespace(uri="file:///train.py", path="train.py", text=FLAG, version=1)
    commands = fixes.commands(snapshot, finding)
    names = [command.arguments[1] for command in commands if command.arguments]
    assert len(set(names)) == len(commands) == len({command.title for command in commands})
    flags = [command.title.partition(" (not")[0] for command in commands if "Compile for `some" in command.title]
    assert flags == [
        "Compile for `some = False` only: where it is True, the graph raises RuntimeError",
        "Compile for `some = True` only: where it is False, the graph raises RuntimeError",
    ]


@pytest.mark.nightly
@pytest.mark.skipif(not has_room(), reason=NO_ROOM)
async def test_two_are_tried_at_a_time_once_another_standby_has_started_and_nothing_is_left(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = Mark()
    monkeypatch.setenv(VARIABLE, mark.word)
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"python": sys.executable, "run": {"enabled": "always"}})
        uri = await ed.open(write(root, PROGRAM))
        await until_all_are_tried(ed, root, uri)
        await until_checked(root, lambda: standbys(mark) == 2 or NO_ROOM in "\n".join(log(root)))
        if standbys(mark) < 2:
            pytest.skip(NO_ROOM)
        first = [line.partition("fix_checks")[2] for line in checked(root)]
        await ed.insert(uri, 2, PROGRAM.count("\n"), "# changed\n")
        await ed.save(uri)
        await until_all_are_tried(ed, root, uri)
        second = [line.partition("fix_checks")[2] for line in checked(root)[len(first) :]]
        assert [TIME.sub("", line) for line in second] == [TIME.sub("", line) for line in first]
        assert await ed.shut_down() == 0
    await until(lambda: not mark.alive())


def standbys(mark: Mark) -> int:
    """How many agents the server has started."""
    found = {}
    for pid in mark.alive():
        with contextlib.suppress(psutil.Error):  # it has ended since
            process = psutil.Process(pid)
            found[pid] = (process.ppid(), process.cmdline())
    servers = {pid for pid, (_, command) in found.items() if "serve" in command}
    return sum(
        parent in servers and any(part.endswith("boot.py") for part in command) for parent, command in found.values()
    )
