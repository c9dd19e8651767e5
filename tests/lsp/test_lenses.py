"""Lenses: what stands above regions and functions, before, during and after a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor import REAL, Editor, capabilities, editor
from programs import ALWAYS, HANGS, ONE, ran, write

REGION = 3
REFRESH = "workspace/codeLens/refresh"


async def lenses(ed: Editor, uri: str) -> list[tuple[int, str]]:
    """The lenses of regions and functions: a result is shown by a click, and what is not known is found out."""
    found = await ed.lenses(uri)
    results = []
    for lens in found:
        line, command = lens["range"]["start"]["line"], lens["command"]
        if command["command"] == "compileLens.analyze":
            assert command["arguments"] == [uri]
            assert command["title"] in ("not analyzed", "changed since the last run")
            results.append((line, command["title"]))
        elif command["command"] == "compileLens.showDetails":
            assert command["arguments"] == [uri, str(line + 1)]
            results.append((line, command["title"]))
    return results


async def test_not_analyzed_then_analyzing_then_what_happened(raw: Editor, root: Path) -> None:
    raw.answers[REFRESH] = lambda _: None
    said = capabilities(workspace={"codeLens": {"refreshSupport": True}})
    await raw.initialize(root, {"run": {"enabled": "always", "onOpen": False}}, capabilities=said)
    uri = await raw.open(write(root, ONE + "# wait\n"))
    assert await lenses(raw, uri) == [(REGION, "not analyzed")]
    since = raw.mark()
    await raw.save(uri)
    await raw.wait(lambda message: message.get("method") == REFRESH, since)
    assert await lenses(raw, uri) == [(REGION, "analyzing…")]
    await ran(root, 1)
    (root / "train.go").touch()
    await raw.status(state="idle", findings=1)
    since = raw.mark()
    await raw.wait(lambda message: message.get("method") == REFRESH, since)
    assert await lenses(raw, uri) == [(REGION, "2 graphs · 1 break")]


async def test_they_move_with_the_text_and_go_with_their_line(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    await ed.insert(uri, 2, 0, "# above\n")
    assert await lenses(ed, uri) == [(REGION + 1, "2 graphs · 1 break")]
    await ed.insert(uri, 3, REGION + 1, "  # touched", character=len("@torch.compile"))
    assert await lenses(ed, uri) == [(REGION + 1, "changed since the last run")]
    await ed.change(uri, 4, {"text": ONE})
    await ed.insert(uri, 5, REGION + 3, "    x = x + 1\n")
    assert await lenses(ed, uri) == [(REGION, "changed since the last run")]
    await ed.change(uri, 6, {"text": ONE})
    assert await lenses(ed, uri) == [(REGION, "changed since the last run")]


async def test_a_run_that_begins_again_says_so_instead_of_what_was(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    await ed.change(uri, 2, {"text": HANGS})
    await ed.save(uri)
    await ran(root, 2)
    assert await lenses(ed, uri) == [(REGION, "analyzing…")]


async def test_they_can_be_off(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {**ALWAYS, "lenses": {"enabled": False}})
    assert await lenses(raw, await raw.open(write(root, ONE))) == []


PROGRAM = """\
import torch


@torch.compile
def clean(x):
    return x + 1


@torch.compile
def broken(x):
    helper(x)
    return x * 2


def helper(x):
    print("a")
    return x.sin()


@torch.compile
def never(x):
    return x


clean(torch.ones(2))
broken(torch.ones(2))
"""


@pytest.mark.nightly
async def test_with_real_torch(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"run": {"enabled": "always"}})
        uri = await ed.open(write(root, PROGRAM))
        await ed.status(state="idle", findings=2)
        found = dict(await lenses(ed, uri))
        assert found[3] == "compiled ✓ · 1 graph"
        assert found[8].startswith(("2 graphs · ", "3 graphs · "))
        assert found[14].startswith("1 graph · 1 break")
        assert found[19] == "not compiled: it was not called in this run"
