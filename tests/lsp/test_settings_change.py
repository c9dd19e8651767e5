"""What a change of settings does to open files: only what changes a run runs them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from editor import Editor, editor
from programs import ALWAYS, HEAD, ONE, log, logged, runs, until, write


async def change(ed: Editor, **settings: Any) -> None:
    await ed.notify("workspace/didChangeConfiguration", {"settings": {"compileLens": {**ALWAYS, **settings}}})


async def test_settings_that_change_no_run_start_none(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.published(uri)
    for settings in (
        {"lenses": {"enabled": False}},
        {"inlays": {"enabled": True}},
        {"predictions": {"enabled": False}},
        {"fixes": {"verify": False}},
        {"cache": {"limit": 3}},
    ):
        await change(ed, **settings)
    await ed.hover(uri, 0, 0)
    await change(ed, run={"enabled": "always", "timeout": 50})
    await until(lambda: len(runs(root)) > 1)
    assert len(runs(root)) == 2


async def test_severities_and_the_cap_change_what_is_shown_without_a_run(ed: Editor, root: Path) -> None:
    text = HEAD + "    print(x)  # finding GB0001\n    print(x)  # finding GB0003\n"
    uri = await ed.open(write(root, text))
    await ed.published(uri, lambda found: len(found) == 2)
    await ed.insert(uri, 2, 0, "# above\n")
    since = ed.mark()
    await change(ed, severity={"GB0001": "error", "GB0003": "off"})
    (found,) = await ed.published(uri, lambda found: len(found) == 1, since)
    assert (found["severity"], found["range"]["start"]["line"]) == (1, 6)
    since = ed.mark()
    await change(ed, maxFindings=1)
    await ed.published(uri, lambda found: len(found) == 1 and found[0]["severity"] == 2, since)
    assert len(runs(root)) == 1


async def test_files_run_again_one_at_a_time_the_one_being_looked_at_first(ed: Editor, root: Path) -> None:
    names = ["a.py", "b.py", "c.py"]
    uris = [await ed.open(write(root, ONE, name)) for name in names]
    await until(lambda: len(runs(root)) == 3)
    for uri in (uris[0], uris[2], uris[1]):
        await ed.published(uri)
        await ed.lenses(uri)
    await ed.status(state="idle", findings=3)
    await change(ed, run={"enabled": "always", "arguments": ["--again"]})
    await until(lambda: len(runs(root)) == 6)
    assert [line.split()[1] for line in runs(root)[3:]] == ["b.py", "c.py", "a.py"]


async def test_what_has_no_result_yet_runs_once_it_may(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"run": {"enabled": "never"}})
    await raw.open(write(root, ONE))
    await raw.status(state="off")
    await change(raw)
    await raw.status(state="idle", findings=1)


async def test_a_repro_is_not_analyzed_unasked(ed: Editor, root: Path) -> None:
    repro = await ed.open(write(root, f"# A repro for torch.compile: of f\n{ONE}", "repro_f.py"))
    await ed.save(repro)
    await ed.published(await ed.open(write(root, ONE)))
    assert [line.split()[1] for line in runs(root)] == ["train.py"]
    assert (await ed.command("compileLens.analyze", repro))["findings"] == 1


async def test_the_status_counts_each_file(ed: Editor, root: Path) -> None:
    one = await ed.open(write(root, ONE, "one.py"))
    two = await ed.open(write(root, ONE + "y = 1  # finding GB0003\n", "two.py"))
    await ed.status(state="idle", findings=3, counts={one: 1, two: 2})


async def test_only_a_failure_of_the_server_is_an_error(root: Path) -> None:
    async with editor(root.parent) as ed:
        await ed.initialize(root, ALWAYS)
        uri = await ed.open(write(root, ONE + "# fail Could not make up inputs.\n"))
        assert await ed.command("compileLens.analyzeAsIfCompiled", uri, "f")
        await ed.status(message="Could not make up inputs.", health="warning")
        await ed.change(uri, 2, {"text": ONE + "# crash\n"})
        await ed.command("compileLens.analyze", uri)
        await ed.status(health="error")
        await logged(root, "ZeroDivisionError: a bug of ours")
    assert log(root)
