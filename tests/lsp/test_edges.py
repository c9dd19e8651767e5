"""Files and texts as they are found in the world: links, renamed and deleted files, several roots, strange and very large texts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from editor import Editor, capabilities
from programs import HEAD, LINE, ONE, log, ran, runs, until, write

FINDING = "    print(x)  # finding GB0001\n"


async def codes(ed: Editor, uri: str) -> list[str]:
    return [str(found["code"]) for found in await ed.published(uri)]


async def test_several_roots_each_with_its_own_files(raw: Editor, root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    folders = [{"uri": folder.as_uri(), "name": folder.name} for folder in (root, other)]
    await raw.initialize(root, {"run": {"enabled": "always"}}, workspaceFolders=folders)
    for folder in (root, other):
        assert await codes(raw, await raw.open(write(folder, ONE, f"{folder.name}.py"))) == ["GB0001"]
    await raw.notify(
        "workspace/didChangeWorkspaceFolders",
        {"event": {"added": [], "removed": [{"uri": other.as_uri(), "name": "o"}]}},
    )
    assert await codes(raw, await raw.open(write(other, ONE, "later.py"))) == ["GB0001"]


async def test_a_file_that_is_deleted_while_it_is_open(ed: Editor, root: Path) -> None:
    """Its text is in the editor: that is what is analyzed."""
    file = write(root, ONE)
    uri = await ed.open(file)
    await ran(root, 1)
    file.unlink()
    await ed.insert(uri, 2, 0, "# unsaved\n")
    await ed.command("compileLens.analyze", uri)
    await ed.published(uri, lambda found: bool(found) and found[0]["range"]["start"]["line"] == LINE + 1)
    assert runs(root)[-1].startswith("run train.py unsaved=True")
    await ed.save(uri)
    await ed.close(uri)
    assert await ed.hover(uri, 0, 0) is None


async def test_a_file_that_is_renamed(ed: Editor, root: Path) -> None:
    """An editor closes the old name and opens the new one; nothing is left under the old."""
    file = write(root, ONE)
    old = await ed.open(file)
    assert await codes(ed, old) == ["GB0001"]
    since = ed.mark()
    await ed.close(old)
    new = await ed.open(file.rename(root / "renamed.py"))
    assert await codes(ed, new) == ["GB0001"]
    assert await ed.published(old, lambda found: not found, since) == []


async def test_a_link_and_the_file_behind_it(ed: Editor, root: Path) -> None:
    file = write(root, ONE, "real.py")
    link = root / "link.py"
    link.symlink_to(file)
    assert await codes(ed, await ed.open(link)) == ["GB0001"]
    assert await codes(ed, await ed.open(file)) == ["GB0001"]


async def test_a_link_that_leads_back_to_itself(ed: Editor, root: Path) -> None:
    link = root / "loop.py"
    link.symlink_to(link)
    uri = await ed.open(link, ONE)
    assert await codes(ed, uri) == ["GB0001"]


@pytest.mark.parametrize(
    "uri",
    [
        "file:///c%3A/Users/me/train.py",
        "file:///C:/Users/me/train.py",
        "file://server/share/train.py",
        "file:////server/share/train.py",
        "file:///a/%ff/train.py",
        "file:///a/../../../b.py",
        "vscode-remote://ssh-remote%2Bhost/home/me/train.py",
    ],
)
async def test_uris_of_other_systems_do_no_harm(ed: Editor, uri: str) -> None:
    document = {"uri": uri, "languageId": "python", "version": 1, "text": ONE}
    await ed.notify("textDocument/didOpen", {"textDocument": document})
    await ed.insert(uri, 2, 0, "x = 1\n")
    await ed.save(uri)
    await ed.hover(uri, LINE, 5)
    await ed.close(uri)
    assert await ed.hover("file:///nowhere.py", 0, 0) is None


@pytest.mark.parametrize(
    ("text", "line", "start", "end"),
    [
        pytest.param(HEAD.replace("\n", "\r\n") + FINDING, LINE, 4, 12, id="CRLF"),
        pytest.param("\ufeff" + HEAD + FINDING, LINE, 4, 12, id="byte order mark"),
        pytest.param(HEAD + "\tprint(x)  # finding GB0001\n", LINE, 1, 9, id="tab"),
        pytest.param(
            HEAD + "    s = '" + "x" * 1_000_000 + "'; print(s)  # finding GB0001\n",
            LINE,
            4,
            1_000_020,
            id="a megabyte",
        ),
        pytest.param("# a comment\n" * 100_000 + HEAD + FINDING, LINE + 100_000, 4, 12, id="a hundred thousand lines"),
    ],
)
async def test_texts_of_any_form(ed: Editor, root: Path, text: str, line: int, start: int, end: int) -> None:
    uri = await ed.open(write(root, ONE), text)
    (found,) = await ed.published(uri)
    assert found["code"] == "GB0001"
    place = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    assert found["range"] == place
    await ed.insert(uri, 2, 0, "\n")
    await ed.published(uri, lambda moved: bool(moved) and moved[0]["range"]["start"]["line"] == line + 1)


async def test_a_thousand_edits_at_once_come_to_one_run(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ran(root, 1)
    for version in range(2, 1_002):
        await ed.insert(uri, version, 0, "pass\n")
        if version % 100 == 0:
            await ed.save(uri)
    await ed.save(uri)
    await ed.published(uri, lambda found: bool(found) and found[0]["range"]["start"]["line"] == LINE + 1_000)
    await until(lambda: len(runs(root)) >= 2)
    assert len(runs(root)) < 12
    assert not [line for line in log(root) if line.startswith(("ERROR", "Traceback"))]


async def test_a_pulling_editor_is_told_of_no_change_by_the_same_id(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"run": {"enabled": "always"}}, capabilities=capabilities(pull=True))
    uri = await raw.open(write(root, ONE))
    await ran(root, 1)
    report = again = await raw.pull(uri)
    for _ in range(100):  # the last word of a run may come between two
        report = await raw.pull(uri)
        again = await raw.pull(uri, report["resultId"])
        if report.get("items") and again["kind"] == "unchanged":
            break
        await asyncio.sleep(0.05)
    assert (again["kind"], again["resultId"]) == ("unchanged", report["resultId"])
