"""Notebooks: the cells are one program, and what is found goes back to the cells."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from editor import REAL, Editor, capabilities, editor, of_runs
from programs import ALWAYS, runs, write

TREE_AND_EDITS = capabilities(
    notebookDocument={"synchronization": {"dynamicRegistration": False}},
    experimental={"compileLensTree": True},
    workspace={"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
)
IMPORTS = "%matplotlib inline\nimport torch"
REGION = "@torch.compile\ndef f(x):\n    print(x)  # finding GB0001\n    return x"
CALL = "%time y = f(torch.ones(3))\ny  # finding GB0002"


class NotebookOf:
    """A notebook as an editor has it: a markdown cell first, and code cells after it."""

    def __init__(self, ed: Editor, file: Path, cells: list[str], kernel: str = "python3") -> None:
        self.ed, self.uri, self.kernel = ed, file.as_uri(), kernel
        self.cells = [f"vscode-notebook-cell:{file}#W{number}sZ" for number in range(len(cells))]
        self.texts = cells
        self.version = 1

    async def open(self) -> None:
        markdown = f"{self.cells[0]}md"
        code = [{"kind": 2, "document": uri} for uri in self.cells]
        items = [self._item(uri, text) for uri, text in zip(self.cells, self.texts, strict=True)]
        document = {
            "uri": self.uri,
            "notebookType": "jupyter-notebook",
            "version": self.version,
            "metadata": {"metadata": {"kernelspec": {"name": self.kernel}}},
            "cells": [{"kind": 1, "document": markdown}, *code],
        }
        cell_documents = [{**self._item(markdown, "# Title"), "languageId": "markdown"}, *items]
        await self.ed.notify(
            "notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": cell_documents}
        )

    async def change(self, cells: dict[str, Any]) -> None:
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        await self.ed.notify("notebookDocument/didChange", {"notebookDocument": document, "change": {"cells": cells}})

    async def insert(self, number: int, line: int, text: str) -> None:
        start = {"line": line, "character": 0}
        changes = [{"range": {"start": start, "end": start}, "text": text}]
        document = {"uri": self.cells[number], "version": self.version + 1}
        await self.change({"textContent": [{"document": document, "changes": changes}]})

    async def save(self) -> None:
        await self.ed.notify("notebookDocument/didSave", {"notebookDocument": {"uri": self.uri}})

    async def published(self, number: int, since: int = 0) -> list[dict[str, Any]]:
        return await self.ed.published(self.cells[number], since=since)

    async def request(self, method: str, number: int, **more: Any) -> Any:
        return await self.ed.request(method, {"textDocument": {"uri": self.cells[number]}, **more})

    def _item(self, uri: str, text: str) -> dict[str, Any]:
        return {"uri": uri, "languageId": "python", "version": 1, "text": text}


def titles(lenses: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses]


def shows_a_finding(message: dict[str, Any]) -> bool:
    files = message["params"]["files"] if message.get("method") == "compileLens/tree" else []
    return any(region.get("children") for file in files for region in file.get("children", ()))


async def test_findings_lenses_and_fixes_are_in_their_cells(raw: Editor, root: Path) -> None:
    said = await raw.initialize(root, ALWAYS, capabilities=TREE_AND_EDITS)
    (selector,) = said["capabilities"]["notebookDocumentSync"]["notebookSelector"]
    assert selector == {"notebook": "jupyter-notebook", "cells": [{"language": "python"}]}
    notebook = NotebookOf(raw, write(root, "{}", "train.ipynb"), [IMPORTS, REGION, CALL])
    await notebook.open()
    (found,) = await notebook.published(1)
    assert (found["code"], found["range"]["start"]) == ("GB0001", {"line": 2, "character": 4})
    assert found["relatedInformation"][0]["location"]["uri"].startswith(("file:", "vscode-notebook-cell:"))
    (called,) = await notebook.published(2)
    assert (called["code"], called["range"]["start"]) == ("GB0002", {"line": 1, "character": 0})
    assert len(runs(root)) == 1

    assert titles(await notebook.request("textDocument/codeLens", 1)) == [
        (0, "2 graphs · 1 break"),
        (0, "Analyze up to this cell"),
    ]
    assert titles(await notebook.request("textDocument/codeLens", 2)) == [(0, "Analyze up to this cell")]
    hover = await notebook.request("textDocument/hover", 1, position={"line": 2, "character": 6})
    assert "Dynamo does not know" in hover["contents"]["value"]
    assert hover["range"]["start"]["line"] == 2
    context = {"diagnostics": [], "only": ["quickfix"]}
    actions = await notebook.request("textDocument/codeAction", 1, range=found["range"], context=context)
    ignore = next(action for action in actions if action["title"].startswith("Ignore"))
    ((uri, (edit,)),) = ignore["edit"]["changes"].items()
    assert (uri, edit["range"]["start"]["line"]) == (notebook.cells[1], 2)
    details = await notebook.request("compileLens/detailsAt", 1, position={"line": 2, "character": 6})
    assert details["title"] == "train.ipynb, cell 2, line 3"
    tree = await raw.wait(shows_a_finding)
    region = tree["params"]["files"][0]["children"][0]
    assert (region["label"], region["uri"], region["range"]["start"]["line"]) == ("f", notebook.cells[1], 0)
    assert region["children"][0]["description"] == "GB0001 · cell 2, line 3"
    # a request about a cell runs the notebook
    assert await raw.command("compileLens.analyze", notebook.cells[0])
    assert len(runs(root)) == 2


async def test_findings_follow_edits_and_cells_that_move(raw: Editor, root: Path) -> None:
    await raw.initialize(root, ALWAYS, capabilities=TREE_AND_EDITS)
    notebook = NotebookOf(raw, write(root, "{}", "train.ipynb"), [IMPORTS, REGION, CALL])
    await notebook.open()
    await notebook.published(1)
    since = raw.mark()
    await notebook.insert(0, 1, "\n\n")  # in the cell above: nothing moves within this one
    await notebook.insert(1, 0, "# above\n")
    moved = await raw.wait(
        lambda m: (
            m.get("method") == "textDocument/publishDiagnostics"
            and m["params"]["uri"] == notebook.cells[1]
            and [d["range"]["start"]["line"] for d in of_runs(m["params"]["diagnostics"])] == [3]
        ),
        since,
    )
    assert moved
    since = raw.mark()
    added = f"{notebook.cells[0]}new"
    item = {"uri": added, "languageId": "python", "version": 1, "text": "# wait\nz = 1  # finding GB0003"}
    array = {"start": 1, "deleteCount": 0, "cells": [{"kind": 2, "document": added}]}
    await notebook.change({"structure": {"array": array, "didOpen": [item]}})
    await notebook.save()
    Path(root / "train.go").touch()
    (found,) = await raw.published(added, since=since)
    assert (found["code"], found["range"]["start"]["line"]) == ("GB0003", 1)
    array = {"start": 1, "deleteCount": 1}
    since = raw.mark()
    await notebook.change({"structure": {"array": array, "didClose": [{"uri": added}]}})
    await notebook.save()
    (still,) = await notebook.published(2, since)
    assert still["code"] == "GB0002"


REAL_CELLS = [
    "%load_ext autoreload\n%autoreload 2\n!echo shell\nimport torch",
    "model_help?\nfiles = !ls\n\n@torch.compile\ndef step(x):\n    y = x * 2\n    if y.sum() > 0:\n        return y + 1\n    return y - 1",
    "%%bash\nexit 1",
    "%%time\nresult = step(torch.ones(3))\ndisplay(result)",
    "%timeit -n 2 step(torch.ones(3))",
]


@pytest.mark.slow
async def test_the_kernels_python_runs_the_cells(root: Path, tmp_path: Path) -> None:
    """A real server: the interpreter of the settings has no torch, that of the kernel does."""
    spec = tmp_path / "xdg_data_home" / "jupyter" / "kernels" / "with-torch" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "language": "python", "display_name": "With torch"}))
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {**ALWAYS, "python": "/usr/bin/false"}, capabilities=TREE_AND_EDITS)
        notebook = NotebookOf(ed, write(root, "{}", "real.ipynb"), REAL_CELLS, "with-torch")
        await notebook.open()
        (found,) = await notebook.published(1)
        assert (found["code"], found["range"]["start"]) == ("GB0170", {"line": 6, "character": 7})
        await ed.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
        lenses = titles(await notebook.request("textDocument/codeLens", 1))
        assert any("1 break" in title for line, title in lenses if line == 3), lenses
