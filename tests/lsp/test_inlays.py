"""Inlay hints, with the user's torch: off unless wanted, at the ends of graphs and at what is dynamic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from editor import REAL, Editor, capabilities, editor
from programs import ONE, write

PROGRAM = """\
import torch


@torch.compile
def f(x, y, n):
    print("a")
    x = x + y.sum()
    print("b")
    return x * n


for n in (3, 4, 5):
    f(torch.ones(2, n), torch.ones(n, 2), n)
"""
# a number that is fixed by what is done with it is no longer dynamic
DYNAMIC = """\
import torch


@torch.compile
def f(x, y, n):
    return x * n + y.sum()


for n in (3, 4, 5):
    f(torch.ones(2, n), torch.ones(n, 2), n)
"""
REFRESH = "workspace/inlayHint/refresh"
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
WANTED = {"python": sys.executable, "run": {"enabled": "never"}, "inlays": {"enabled": True}}


async def hints(ed: Editor, uri: str, at: dict[str, Any] = WHOLE) -> list[tuple[int, int, str]]:
    params = {"textDocument": {"uri": uri}, "range": at}
    found = await ed.request("textDocument/inlayHint", params)
    return [(hint["position"]["line"], hint["position"]["character"], hint["label"]) for hint in found]


async def test_they_are_off_by_default(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    assert await hints(ed, uri) == []


@pytest.mark.slow
async def test_where_graphs_end_and_what_is_dynamic(root: Path) -> None:
    said = capabilities(workspace={"inlayHint": {"refreshSupport": True}})
    async with editor(root.parent, REAL) as ed:
        ed.answers[REFRESH] = lambda _: None
        await ed.initialize(root, WANTED, capabilities=said)
        uri = await ed.open(write(root, PROGRAM))
        await ed.command("compileLens.analyze", uri)
        await ed.wait(lambda message: message.get("method") == REFRESH)
        found = [hint for hint in await hints(ed, uri) if "ends" in hint[2]]
        assert found == [(5, 14, "⟂ graph 1 of f ends"), (7, 14, "⟂ graph 2 of f ends")]

        # both move with the text
        uri = await ed.open(write(root, DYNAMIC, "dynamic.py"))
        await ed.command("compileLens.analyze", uri)
        found = await hints(ed, uri)
        assert found == [(4, 7, "dim 1 dynamic"), (4, 10, "dim 0 dynamic"), (4, 13, "dynamic")]
        await ed.insert(uri, 2, 0, "# above\n")
        assert [line for line, _, _ in await hints(ed, uri)] == [5, 5, 5]
        above = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
        assert await hints(ed, uri, above) == []
