"""What an editor shows of runs: progress, and the status."""

from __future__ import annotations

import sys
from pathlib import Path

from editor import Editor, Message, capabilities
from programs import ALWAYS, HANGS, HEAD, ONE, log, ran, write


class TestProgress:
    async def test_it_begins_and_ends(self, ed: Editor, root: Path) -> None:
        await ed.open(write(root, HEAD + "    print(x)  # finding GB0001\n# partial\n# wait\n"))

        def reports(message: Message) -> bool:
            value = (message.get("params") or {}).get("value") or {}
            return bool(value.get("message") == "train.py: 1 graph break")

        await ed.wait(reports)
        (root / "train.go").touch()
        await ed.status(ed.mark() - 1, state="idle")
        kinds = [m["params"]["value"]["kind"] for m in ed.received if m.get("method") == "$/progress"]
        assert (kinds[0], kinds[-1], kinds.count("begin"), kinds.count("end")) == ("begin", "end", 1, 1)

    async def test_none_for_an_editor_without_it(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, ALWAYS, capabilities=capabilities(progress=False))
        await raw.published(await raw.open(write(root, ONE)))
        assert not [m for m in raw.received if "rogress" in m.get("method", "")]

    async def test_an_editor_that_refuses_its_token_gets_none(self, raw: Editor, root: Path) -> None:
        del raw.answers["window/workDoneProgress/create"]
        await raw.initialize(root, ALWAYS)
        uri = await raw.open(write(root, HANGS))
        create = await raw.wait(lambda message: message.get("method") == "window/workDoneProgress/create")
        await raw.send({"id": create["id"], "error": {"code": -32603, "message": "no"}})
        await raw.command("compileLens.cancel", uri)
        assert not [m for m in raw.received if m.get("method") == "$/progress"]


class TestStatus:
    async def test_it_follows_the_work(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, ONE))
        await ed.status(state="idle", findings=1)
        seen = [m["params"] for m in ed.received if m.get("method") == "compileLens/status"]
        assert [entry["state"] for entry in seen] == ["idle", "starting", "analyzing", "idle"]
        assert (seen[2]["uri"], seen[2]["message"], seen[3]["message"]) == (uri, "Analyzing train.py", "1 finding")

    async def test_editors_that_do_not_know_it_are_not_sent_it(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, ALWAYS, capabilities=capabilities(status=False))
        await raw.published(await raw.open(write(root, ONE)))
        assert not [m for m in raw.received if m.get("method") == "compileLens/status"]

    async def test_what_cannot_be_analyzed_is_said_in_the_status(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, ONE + "# fail train.py is a riddle.\n"))
        await ed.status(health="warning", message="train.py is a riddle.", uri=uri)
        assert ed.shown() == []

    async def test_or_in_a_message_once_where_there_is_no_status(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, ALWAYS, capabilities=capabilities(status=False))
        uri = await raw.open(write(root, ONE + "# fail train.py is a riddle.\n"))
        await raw.wait(lambda message: message.get("method") == "window/showMessage")
        assert raw.shown() == ["Compile Lens: train.py is a riddle."]
        await raw.save(uri)
        await ran(root, 2)
        await raw.hover(uri, 0, 0)
        assert len(raw.shown()) == 1
        await raw.command("compileLens.analyze", uri)
        assert len(raw.shown()) == 2

    async def test_a_bug_of_ours_is_for_the_log_and_bothers_nobody(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, ONE + "# crash\n"))
        await ed.status(health="error", message="Compile Lens failed on train.py. See the log.", uri=uri)
        assert await ed.command("compileLens.analyze", uri) is None
        assert ed.shown() == []
        assert "ZeroDivisionError: a bug of ours" in log(root)

    async def test_an_interpreter_without_torch(self, raw: Editor, root: Path) -> None:
        python = root.parent / "torchless" / "python"
        python.parent.mkdir()
        python.symlink_to(sys.executable)
        await raw.initialize(root, {"python": str(python), **ALWAYS})
        await raw.open(write(root, ONE))
        status = await raw.status(health="warning")
        assert status["message"].startswith(f"{python} has no torch.")

    async def test_an_interpreter_that_is_not_there(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, {"python": "/nowhere/python", **ALWAYS})
        await raw.open(write(root, ONE))
        status = await raw.status(health="warning")
        assert "/nowhere/python" in status["message"]
