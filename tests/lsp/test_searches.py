"""Bisecting from an editor: an action in a repro's header, progress, a document; cancel ends it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "repro"))

import pytest
from editor import REAL, Editor, editor
from planted_bugs import BUGS

from processes import Mark

REPRO = """# A repro for torch.compile: eager fails
#
# criterion: any
import sys
sys.exit(125)
"""
ENDLESS = "# A repro for torch.compile: it never ends\n#\n# criterion: any\nimport time\ntime.sleep(1000)\n"
OPTIONS = {"python": sys.executable, "run": {"enabled": "never"}}


def write(root: Path, text: str) -> Path:
    file = root / "repro.py"
    file.write_text(text)
    return file


async def actions(ed: Editor, uri: str, line: int) -> list[dict[str, object]]:
    place = {"line": line, "character": 0}
    found: list[dict[str, object]] = await ed.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": {"diagnostics": []}},
    )
    return found


@pytest.mark.nightly
async def test_a_repro_is_bisected_from_its_header(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        shown: list[str] = []
        ed.answers["window/showDocument"] = lambda params: shown.append(params["uri"]) or {"success": True}
        await ed.initialize(root, OPTIONS)
        uri = await ed.open(write(root, REPRO))
        titles = [action["title"] for action in await actions(ed, uri, 1)]
        assert titles == ["Bisect this repro", "Minify this repro"]
        answer = await ed.request("workspace/executeCommand", {"command": "compileLens.bisect", "arguments": [uri]})
        assert answer["status"] == "unfit"
        text = Path(shown[0].removeprefix("file://")).read_text()
        assert "already fails in eager" in text
        titles = [action["title"] for action in await actions(ed, uri, 1)]
        assert "Bisect this repro again and compare with the last result" in titles
        again = await ed.request(
            "workspace/executeCommand", {"command": "compileLens.verifyBisection", "arguments": [uri]}
        )
        assert again["changes"] == ["Nothing changed."]


async def test_the_verdict_stands_at_the_line_that_it_is_about(root: Path) -> None:
    bug = BUGS["decomposition"]
    async with editor(root.parent, REAL) as ed:
        ed.answers["window/showDocument"] = lambda _: {"success": True}
        await ed.initialize(root, OPTIONS)
        uri = await ed.open(write(root, bug.text()))
        answer = await ed.begin("workspace/executeCommand", {"command": "compileLens.bisect", "arguments": [uri]})
        published = await ed.published(uri, lambda items: any(item["code"] == "bisect-verdict" for item in items))
        (found,) = [item for item in published if item["code"] == "bisect-verdict"]
        assert "aten.addcmul" in found["message"]
        line = bug.text().splitlines()[found["range"]["start"]["line"]]
        assert line[found["range"]["start"]["character"] : found["range"]["end"]["character"]] == bug.line
        await ed.answer(answer)


async def test_cancel_of_the_progress_ends_the_search(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = Mark()
    for name, value in mark.environment.items():
        monkeypatch.setenv(name, value)
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, OPTIONS)
        uri = await ed.open(write(root, ENDLESS))
        request = await ed.begin("workspace/executeCommand", {"command": "compileLens.bisect", "arguments": [uri]})
        report = await ed.wait(
            lambda m: m.get("method") == "$/progress" and "without" in m["params"]["value"].get("message", "")
        )
        await ed.notify("window/workDoneProgress/cancel", {"token": report["params"]["token"]})
        assert await ed.answer(request) is None
        await asyncio.sleep(0)
        assert await ed.shut_down() == 0
    assert mark.none_left()
