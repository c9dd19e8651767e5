"""The tree of findings and the details at the cursor, as an editor's views get them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from editor import REAL, Editor, Message, capabilities, editor
from programs import HEAD, ONE, write

ALWAYS = {"run": {"enabled": "always"}}
SHOWS_TREE = capabilities(experimental={"compileLensTree": True})
Nodes = list[dict[str, Any]]


async def tree(ed: Editor, wanted: Callable[[Nodes], bool], since: int = 0) -> Nodes:
    """The first tree that is as wanted."""

    def fits(message: Message) -> bool:
        return message.get("method") == "compileLens/tree" and wanted(message["params"]["files"])

    files: Nodes = (await ed.wait(fits, since))["params"]["files"]
    return files


async def details(ed: Editor, uri: str, line: int, character: int = 6) -> dict[str, Any]:
    position = {"line": line, "character": character}
    found: dict[str, Any] = await ed.request(
        "compileLens/detailsAt", {"textDocument": {"uri": uri}, "position": position}
    )
    return found


def said(blocks: Nodes) -> str:
    """All that the blocks say, as text."""
    found: list[str] = []
    for block in blocks:
        rows = [*block.get("items", ()), *(cell for row in block.get("rows", ()) for cell in row)]
        found += ["".join(piece["text"] for piece in entry) for entry in (block.get("pieces", ()), *rows)]
        found += [command["title"] for command in block.get("commands", ())]
        found += [block[name] for name in ("title", "code", "text") if name in block]
    return "\n".join(found)


def outline(nodes: Nodes) -> list[Any]:
    """Kind, label and description of each node, with its children."""
    return [
        (node["kind"], node["label"], node.get("description", ""), *outline(node.get("children", []))) for node in nodes
    ]


def has_runs(files: Nodes) -> bool:
    return any(child["kind"] == "runs" for file in files for child in file.get("children", ()))


async def test_a_file_its_regions_and_what_changed_since_the_last_run(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"run": {"enabled": "always", "onOpen": False}}, capabilities=SHOWS_TREE)
    uri = await raw.open(write(root, ONE))
    (file,) = await tree(raw, bool)
    assert outline([file]) == [("file", "train.py", "not analyzed", ("region", "f", "not analyzed"))]

    await raw.save(uri)
    (file,) = await tree(raw, has_runs)
    region, runs = file["children"]
    assert file["description"] == "1 finding"
    assert (region["description"], region["range"]["start"]) == ("2 graphs · 1 break", {"line": 3, "character": 0})
    (finding,) = region["children"]
    assert (finding["label"], finding["description"]) == ("Graph break GB0001", "GB0001 · line 6")
    assert finding["severity"] == "warning"
    assert finding["range"]["start"]["line"] == 5
    assert set(finding["commands"]) == {"ignore", "repro"}
    assert [run["kind"] for run in runs["children"]] == ["run"]

    # the tree moves with the text, and names the fixes of now
    since = raw.mark()
    await raw.insert(uri, 2, 0, "# above\n")
    (file,) = await tree(raw, lambda files: files[0]["children"][0]["range"]["start"]["line"] == 4, since)
    (moved,) = file["children"][0]["children"]
    assert moved["range"]["start"]["line"] == 6
    raw.answers["workspace/applyEdit"] = lambda _: {"applied": True}
    assert await raw.command(moved["commands"]["ignore"]["command"], *moved["commands"]["ignore"]["arguments"])

    since = raw.mark()
    await raw.change(uri, 3, {"text": ONE.replace("GB0001", "GB0170")})
    await raw.save(uri)
    (file,) = await tree(raw, lambda files: has_runs(files) and len(files[0]["children"][-1]["children"]) == 2, since)
    last = file["children"][-1]["children"][0]
    assert last["description"].startswith("1 new, 1 gone · ")
    assert [(change["label"], change["description"]) for change in last["children"]] == [
        ("Graph break GB0170", "new · line 6"),
        ("Graph break GB0001", "gone · line 6"),
    ]
    assert "2 changes since the previous run" in said((await details(raw, uri, 5))["blocks"])

    await raw.close(uri)
    await tree(raw, lambda files: files == [], since)


async def test_findings_of_other_files_and_those_outside_of_regions(raw: Editor, root: Path) -> None:
    await raw.initialize(root, ALWAYS, capabilities=SHOWS_TREE)
    write(root, "import torch\nx = torch.ones(3)\n", "other.py")
    await raw.open(write(root, ONE + "# in other.py 2\n"))
    files = await tree(raw, lambda files: len(files) == 2 and has_runs(files))
    other = next(file for file in files if file["label"] == "other.py")
    # it belongs to no region of its own file, and is not open, so that nothing in it can be changed
    assert outline([other]) == [("file", "other.py", "1 finding", ("finding", "Graph break GB0099", "GB0099 · line 2"))]
    assert "commands" not in other["children"][0]


async def test_only_editors_that_show_it_get_a_tree(ed: Editor, root: Path) -> None:
    await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    await ed.command("compileLens.allowedWorkspaces")
    assert not [message for message in ed.received if message.get("method") == "compileLens/tree"]


async def test_details_are_text_in_pieces(ed: Editor, root: Path) -> None:
    program = HEAD + "    print(x)  # finding GB0002\n    return x\n"
    uri = await ed.open(write(root, program))
    await ed.status(state="idle", findings=1)
    found = await details(ed, uri, 5)
    assert found["title"] == "train.py, line 6"
    title, message, why, to_do, *_ = found["blocks"]
    assert title["kind"] == "heading"
    assert (title["code"], title["severity"]) == ("GB0002", "warning")
    assert message["pieces"] == [{"text": "Graph break GB0002 (2 times)"}]
    # what a program says is not markup
    assert why["pieces"] == [{"text": "Dynamo does not know *this*."}]
    assert [entry[0]["text"] for entry in to_do["items"]] == ["Move it out.", "Use torch.cond."]
    whole = said(found["blocks"])
    assert "Region f" in whole
    assert "0/0, 1/0" in whole
    call_path = next(block for block in found["blocks"] if block.get("title") == "Call path")
    assert call_path["items"][0][0] == {"text": "train.py:6", "uri": uri, "line": 5}
    # what is copied
    assert r"Dynamo does not know \*this\*." in found["markdown"]

    empty = await details(ed, uri, 0)
    assert (empty["title"], empty["blocks"], empty["markdown"]) == ("train.py, line 1", [], "")
    region = await details(ed, uri, 6)
    assert said(region["blocks"]).startswith("Region f")
    assert await details(ed, (root / "closed.py").as_uri(), 0) is None


RECOMPILES = """\
import torch


@torch.compile(dynamic=False)
def scale(x):
    return x * 2


for size in (2, 3, 4):
    scale(torch.ones(size))
"""


@pytest.mark.slow
async def test_the_history_of_recompiles_is_a_table(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {**ALWAYS, "python": sys.executable}, capabilities=SHOWS_TREE)
        uri = await ed.open(write(root, RECOMPILES))
        (file,) = await tree(ed, has_runs)
        region = file["children"][0]
        graphs, *findings = region["children"]
        assert (region["label"], region["description"]) == ("scale", "3 graphs · 2 recompiles")
        assert (graphs["label"], graphs["description"]) == ("Graphs", "3")
        assert [(child["label"], child["description"]) for child in graphs["children"]] == [
            ("scale", "3 graphs · 0/0, 0/1, 0/2")
        ]
        assert [finding["severity"] for finding in findings] == ["information"]
        found = await details(ed, uri, findings[0]["range"]["start"]["line"])
        table = next(block for block in found["blocks"] if block.get("title") == "Recompiles")
        rows = [["".join(piece["text"] for piece in cell) for cell in row] for row in table["rows"]]
        assert [(row[0], row[2]) for row in rows] == [("0/1", "line 10"), ("0/2", "line 10")]
        assert all("size" in row[1] for row in rows)
        assert all("x" in row[3] for row in rows)
