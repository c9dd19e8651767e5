"""Comparing with eager, from the editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from editor import Editor
from programs import LINE, ONE, ran, runs, write


async def test_a_region_offers_to_compare_and_the_command_does(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, "import os\n" + ONE))
    asked = {
        "textDocument": {"uri": uri},
        "range": {"start": {"line": LINE, "character": 0}, "end": {"line": LINE, "character": 0}},
        "context": {"diagnostics": []},
    }

    async def offered(**other: object) -> list[dict[str, Any]]:
        actions = await ed.request("textDocument/codeAction", {**asked, **other})
        return [action for action in actions if action["title"].startswith("Compare the compiled results")]

    (action,) = await offered()
    assert action["command"]["arguments"] == [uri]
    # it is no fix, and nothing outside of a region offers it
    assert await offered(context={"diagnostics": [], "only": ["quickfix"]}) == []
    outside = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    assert await offered(range=outside) == []

    result = await ed.command(action["command"]["command"], uri)
    assert result["status"] == "ok"
    await ran(root, 1)
    assert any(line.endswith("depth=inductor compared") for line in runs(root))


async def test_a_region_offers_to_vary_its_inputs(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, "import os\n" + ONE))
    place = {"line": LINE, "character": 0}
    asked = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
    actions = await ed.request("textDocument/codeAction", asked)
    (action,) = [action for action in actions if action["title"] == "Find inputs that make `f` recompile"]
    result = await ed.command(action["command"]["command"], *action["command"]["arguments"])
    assert result["status"] == "ok"
    await ran(root, 1)
    assert any(line.endswith("depth=dynamo varied=['f']") for line in runs(root))


async def test_a_script_with_cells_runs_up_to_one(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, "# %%\nimport os\n" + ONE + "\n# %%\nraise SystemExit(3)\n"))
    lenses = await ed.lenses(uri)
    commands = [lens["command"] for lens in lenses if lens["command"]["title"] == "Analyze up to this cell"]
    assert len(commands) == 2
    result = await ed.command(commands[0]["command"], *commands[0]["arguments"])
    assert result["status"] == "ok"
    await ran(root, 1)
    assert any(" unsaved=True " in line for line in runs(root))
