"""A save that changes no code runs nothing."""

from __future__ import annotations

from pathlib import Path

from editor import Editor
from programs import ONE, ran, runs, write

COMMENTED = ONE.replace("import torch\n", "# Trains.\nimport torch\n")


async def test_a_comment_needs_no_run_and_other_code_does(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    await ed.change(uri, 2, {"text": COMMENTED})
    await ed.save(uri)
    # another document waits for its turn to run
    other = write(root, ONE, "other.py")
    since = ed.mark()
    await ed.open(other)
    await ed.published(other.as_uri(), since=since)
    hover = await ed.hover(uri, 6, 6)
    assert hover is not None and "GB0001" in hover["contents"]["value"]
    await ed.change(uri, 3, {"text": COMMENTED.replace("return x", "return x + 1")})
    since = ed.mark()
    await ed.save(uri)
    await ran(root, 3)
    await ed.status(since, state="idle")
    assert sorted(line.split()[1] for line in runs(root)) == ["other.py", "train.py", "train.py"]


async def test_who_saves_twice_asks_for_a_run(ed: Editor, root: Path) -> None:
    """Even while the first save is still looked at."""
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    await ed.change(uri, 2, {"text": COMMENTED})
    await ed.save(uri)
    await ed.save(uri)
    await ran(root, 2)
