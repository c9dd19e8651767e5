"""A save that changes no code runs nothing."""

from __future__ import annotations

from pathlib import Path

from editor import Editor
from programs import ONE, ran, runs, write


async def test_a_comment_needs_no_run_and_anything_else_does(ed: Editor, root: Path) -> None:
    file = write(root, ONE)
    uri = await ed.open(file)
    await ed.status(state="idle", findings=1)
    commented = ONE.replace("import torch\n", "# Trains.\nimport torch\n")
    since = ed.mark()
    await ed.change(uri, 2, {"text": commented})
    await ed.save(uri)
    await ed.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end", since)
    hover = await ed.hover(uri, 6, 6)
    assert len(runs(root)) == 1
    assert hover is not None and "GB0001" in hover["contents"]["value"]
    # to save what has not changed is to ask for a run; to change code needs one
    await ed.save(uri)
    await ran(root, 2)
    await ed.change(uri, 3, {"text": commented.replace("return x", "return x + 1")})
    await ed.save(uri)
    await ran(root, 3)
