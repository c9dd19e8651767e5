"""``fullgraph=True`` from an editor: offered at regions without a break, tried before it is set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from editor import REAL, Editor, editor
from programs import write

COMMAND = "compileLens.keepOneGraph"
PROGRAM = """\
import torch


@torch.compile
def whole(x):
    return x * 2


@torch.compile
def broken(x):
    torch._dynamo.graph_break()
    return x + 1


whole(torch.ones(3))
broken(torch.ones(3))
"""
IN_WHOLE, IN_BROKEN = (5, 4), (11, 4)


async def kept_actions(ed: Editor, uri: str, place: tuple[int, int]) -> list[dict[str, Any]]:
    point = {"line": place[0], "character": place[1]}
    params = {"textDocument": {"uri": uri}, "range": {"start": point, "end": point}, "context": {"diagnostics": []}}
    found = await ed.request("textDocument/codeAction", params)
    return [action for action in found if (action.get("command") or {}).get("command") == COMMAND]


@pytest.mark.nightly
async def test_a_region_without_a_break_is_kept_one_graph(root: Path) -> None:
    edits: list[Any] = []
    async with editor(root.parent, REAL) as ed:
        ed.answers["workspace/applyEdit"] = lambda params: edits.append(params) or {"applied": True}
        options = {"python": sys.executable, "run": {"enabled": "always"}, "fixes": {"verify": False}}
        await ed.initialize(root, options)
        uri = await ed.open(write(root, PROGRAM))
        await ed.status(state="idle", findings=1)

        assert await kept_actions(ed, uri, IN_BROKEN) == []
        (action,) = await kept_actions(ed, uri, IN_WHOLE)
        assert action["title"] == "Keep `whole` one graph (`fullgraph=True`)…"
        assert action["command"]["arguments"] == [uri, "4:1"]
        done = await ed.request("workspace/executeCommand", action["command"])
        assert done == {"applied": True, "effect": "no break in the run, results equal"}
        (edit,) = edits[0]["edit"]["changes"][uri]
        assert (edit["newText"], edit["range"]["start"]) == ("(fullgraph=True)", {"line": 3, "character": 14})
        said = "Compile Lens: Keep `whole` one graph (`fullgraph=True`): no break in the run, results equal."
        assert said in ed.shown()

        # a text that nobody has run: nothing is offered, and what was offered before is refused
        await ed.change(uri, 2, {"text": "\n" + PROGRAM})
        assert await ed.command(COMMAND, uri, "4:1") is None
        assert len(edits) == 1
        assert await ed.shut_down() == 0
