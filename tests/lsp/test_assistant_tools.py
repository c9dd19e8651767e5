"""Tools of an assistant in an editor: unsaved text, the editor's permission, cancellation."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from editor import REAL, RequestError, editor

COMMAND = "compileLens.assistantTool"
BROKEN = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x.shape)\n    return x.sin()\n\n\nf(torch.ones(2))\n"
FIXED = BROKEN.replace("    print(x.shape)\n", "")
ENDLESS = f"{FIXED}\nwhile True:\n    pass\n"


@pytest.mark.slow
async def test_an_assistant_sees_what_the_editor_sees(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    file = root / "model.py"
    file.write_text(BROKEN)
    (tmp_path / "elsewhere.py").write_text(BROKEN)
    (root / "link.py").symlink_to(tmp_path / "elsewhere.py")
    async with editor(tmp_path, REAL) as ed:
        await ed.initialize(
            root, {"python": sys.executable, "run": {"enabled": "ask", "onOpen": False, "onSave": False}}
        )

        async def ask(tool: str, **given: object) -> dict[str, object]:
            arguments = [None, tool, json.dumps(given)]
            answer: dict[str, object] = await ed.request(
                "workspace/executeCommand", {"command": COMMAND, "arguments": arguments}
            )
            return answer

        refused = await ask("check", file="model.py")
        assert refused["refused"] and "has not allowed" in str(refused["text"])
        assert not (await ask("entries", file="model.py"))["refused"]
        await ed.request(
            "workspace/executeCommand", {"command": "compileLens.allowWorkspace", "arguments": [file.as_uri()]}
        )
        found = json.loads(str((await ask("check", file="model.py"))["text"]))
        assert found["summary"]["graph_breaks"] == 1 and found["findings"][0]["place"] == f"{file}:6:5"
        await ed.open(file, FIXED)
        found = json.loads(str((await ask("check", file=str(file)))["text"]))
        assert (found["text_from"], found["summary"]["graph_breaks"]) == ("editor", 0)
        for elsewhere in ("link.py", str(tmp_path / "elsewhere.py")):
            assert (await ask("check", file=elsewhere))["refused"]
        assert (await ask("shell"))["refused"] and (await ask("check", fil=3))["refused"]
        arguments = [None, "check", json.dumps({"file": str(file), "text": ENDLESS})]
        running = await ed.begin("workspace/executeCommand", {"command": COMMAND, "arguments": arguments})
        await asyncio.sleep(0.5)
        await ed.notify("$/cancelRequest", {"id": running})
        with pytest.raises(RequestError):
            await ed.answer(running)
        assert not (await ask("check", file=str(file)))["refused"]
        with pytest.raises(RequestError):
            await ed.request("workspace/executeCommand", {"command": COMMAND, "arguments": [None, "check", "["]})
