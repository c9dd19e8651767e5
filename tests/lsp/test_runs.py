"""When files run: consent, trust, settings, commands, cancellation."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from editor import Editor, Message, RequestError, capabilities, editor
from programs import ALWAYS, HANGS, ONE, log, logged, ran, runs, write
from pygls import uris

REFUSED = "Off: background runs are not allowed in this workspace"
CANCELLED = -32800


def asked(ed: Editor, since: int = 0) -> list[Message]:
    return [m["params"] for m in ed.received[since:] if m.get("method") == "window/showMessageRequest"]


def waiting(ed: Editor) -> list[bool]:
    """What the status bar was told of the question."""
    return [m["params"]["waiting"] for m in ed.received if m.get("method") == "compileLens/consent"]


async def code_actions(ed: Editor, uri: str, line: int) -> list[Message]:
    place = {"line": line, "character": 2}
    request = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
    found: list[Message] = await ed.request("textDocument/codeAction", request)
    return found


def torchless(root: Path) -> Path:
    """An interpreter that is there, and has no torch."""
    python = root / "torchless" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    return python


def answering(title: str | None) -> Any:
    return lambda _: None if title is None else {"title": title}


class TestConsent:
    async def test_nothing_runs_before_the_user_agreed_and_then_it_does(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root)
        uri = await raw.open(write(root, ONE))
        question = await raw.wait(lambda message: message.get("method") == "window/showMessageRequest")
        assert question["params"]["actions"] == [{"title": "Allow"}, {"title": "Not now"}, {"title": "Learn more"}]
        assert question["params"]["message"].startswith("May Compile Lens run Python files of this workspace")
        await raw.save(uri)
        await raw.open(write(root, ONE, "other.py"))
        hover = await raw.hover(uri, 3, 2)
        assert hover is not None and "Allow Compile Lens" in hover["contents"]["value"]
        assert (len(asked(raw)), runs(root)) == (1, [])
        await raw.send({"id": question["id"], "result": {"title": "Allow"}})
        await raw.published(uri)

    async def test_the_answer_is_remembered_for_the_workspace(self, root: Path) -> None:
        async with editor(root.parent) as first:
            first.answers["window/showMessageRequest"] = answering("Allow")
            await first.initialize(root)
            await first.published(await first.open(write(root, ONE)))
        async with editor(root.parent) as second:
            await second.initialize(root)
            await second.published(await second.open(root / "train.py"))
            assert asked(second) == []
        other = root.parent / "other"
        other.mkdir()
        async with editor(root.parent) as third:
            await third.initialize(other)
            since = third.mark()
            await third.open(write(other, ONE))
            await third.wait(lambda message: message.get("method") == "window/showMessageRequest", since)

    async def test_a_path_that_leads_out_of_the_workspace_is_another_one(self, raw: Editor, root: Path) -> None:
        other = root.parent / "other"
        other.mkdir()
        write(other, ONE)
        raw.answers["window/showMessageRequest"] = answering("Allow")
        await raw.initialize(root)
        await raw.published(await raw.open(write(root, ONE)))
        raw.answers["window/showMessageRequest"] = answering("Not now")
        document = {"languageId": "python", "version": 1, "text": ONE}
        for out in ("..", "%2e%2e", "./.."):
            uri = f"{root.as_uri()}/{out}/other/train.py"
            await raw.notify("textDocument/didOpen", {"textDocument": {"uri": uri, **document}})
            await raw.hover(uri, 0, 0)
        await raw.status(message=REFUSED)
        assert (len(asked(raw)), len(runs(root))) == (2, 1)

    async def test_who_allowed_a_file_in_a_folder_is_asked_for_the_folder(self, root: Path) -> None:
        loose = root.parent / "loose"
        loose.mkdir()
        async with editor(root.parent) as first:
            first.answers["window/showMessageRequest"] = answering("Allow")
            await first.initialize(root)
            await first.published(await first.open(write(loose, ONE)))
        async with editor(root.parent) as second:
            await second.initialize(loose)
            await second.open(loose / "train.py")
            await second.wait(lambda message: message.get("method") == "window/showMessageRequest")

    async def test_a_name_that_is_no_text_is_not_that_of_another_folder(self, raw: Editor, root: Path) -> None:
        folder = root / "\ufffd"
        folder.mkdir()
        raw.answers["window/showMessageRequest"] = answering("Allow")
        await raw.initialize(root)
        await raw.published(await raw.open(write(root, ONE)))
        document = {"uri": f"{root.as_uri()}/%FF/train.py", "languageId": "python", "version": 1, "text": ONE}
        await raw.notify("textDocument/didOpen", {"textDocument": document})
        await raw.published(await raw.open(write(root, ONE, "other.py")))
        assert len(runs(root)) == 2

    @pytest.mark.parametrize("answer", ["Not now", None])
    async def test_no_is_no_for_this_session(self, raw: Editor, root: Path, answer: str | None) -> None:
        raw.answers["window/showMessageRequest"] = answering(answer)
        await raw.initialize(root)
        uri = await raw.open(write(root, ONE))
        await raw.status(message=REFUSED)
        await raw.save(uri)
        await raw.hover(uri, 0, 0)
        assert (len(asked(raw)), runs(root)) == (1, [])

    async def test_an_editor_that_cannot_ask_says_how_to_allow_runs(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root)
        uri = await raw.open(write(root, ONE))
        question = await raw.wait(lambda message: message.get("method") == "window/showMessageRequest")
        await raw.send({"id": question["id"], "error": {"code": -32601, "message": "no such method"}})
        await raw.status(message=REFUSED)
        await raw.save(uri)
        await raw.hover(uri, 0, 0)
        assert runs(root) == []
        (told,) = raw.shown()
        assert "the code action" in told
        line = ONE.splitlines().index("@torch.compile")
        actions = [action for action in await code_actions(raw, uri, line) if action["title"] in told]
        assert [action["kind"] for action in actions] == ["quickfix"]
        command = actions[0]["command"]
        await raw.command(command["command"], *command["arguments"])
        await raw.published(uri)
        assert not [action for action in await code_actions(raw, uri, line) if action["title"] in told]

    async def test_an_editor_without_trust_runs_nothing_until_a_setting_says_so(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, trust=None)
        uri = await raw.open(write(root, ONE))
        await raw.status(state="off")
        await raw.save(uri)
        hover = await raw.hover(uri, 3, 2)
        assert hover is not None and "Set `compileLens.run.enabled`" in hover["contents"]["value"]
        assert (asked(raw), runs(root)) == ([], [])
        (told,) = raw.shown()
        assert "compileLens.run.enabled" in told
        await raw.notify("workspace/didChangeConfiguration", {"settings": {"compileLens": {"run": {"enabled": "ask"}}}})
        question = await raw.wait(lambda message: message.get("method") == "window/showMessageRequest")
        await raw.send({"id": question["id"], "result": {"title": "Allow"}})
        await raw.published(uri)
        assert await raw.command("compileLens.allowedWorkspaces") == [root.as_uri()]

    async def test_torch_is_imported_before_the_answer_in_a_trusted_workspace(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root)
        await raw.open(write(root, ONE))
        await logged(root, f"start {sys.executable}")
        assert runs(root) == []

    @pytest.mark.parametrize("trust", [None, False])
    async def test_nothing_is_imported_before_the_answer_in_another_workspace(
        self, raw: Editor, root: Path, trust: bool | None
    ) -> None:
        await raw.initialize(root, {"run": {"enabled": "ask"}}, trust=trust)
        uri = await raw.open(write(root, ONE))
        await raw.status(state="off")
        await raw.hover(uri, 0, 0)
        assert log(root) == []

    @pytest.mark.parametrize("answer", ["Not now", "Learn more", None])
    async def test_the_question_stays_open_in_the_status_and_above_the_first_region(
        self, raw: Editor, root: Path, answer: str | None
    ) -> None:
        raw.answers["window/showMessageRequest"] = answering(answer)
        await raw.initialize(root)
        uri = await raw.open(write(root, ONE))
        await raw.status(message=REFUSED)
        assert waiting(raw) == [True]
        assert {"Analyze", "what does this do?"} <= {each["command"]["title"] for each in await raw.lenses(uri)}
        await raw.command("compileLens.allowWorkspace")
        await raw.published(uri)
        assert waiting(raw) == [True, False]
        assert not {"Analyze", "what does this do?"} & {each["command"]["title"] for each in await raw.lenses(uri)}

    async def test_learn_more_shows_a_page_that_the_lens_shows_too(self, raw: Editor, root: Path) -> None:
        raw.answers["window/showMessageRequest"] = answering("Learn more")
        raw.answers["window/showDocument"] = lambda _: {"success": True}
        await raw.initialize(root, capabilities=capabilities(window={"showDocument": {"support": True}}))
        await raw.open(write(root, ONE))
        await raw.wait(lambda message: message.get("method") == "window/showDocument")
        await raw.command("compileLens.explainRuns")
        pages = [m["params"]["uri"] for m in raw.received if m.get("method") == "window/showDocument"]
        assert len(pages) == 2
        assert all("revoke" in Path(uris.to_fs_path(page) or "").read_text() for page in pages)

    async def test_without_torch_there_is_no_question(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, {"python": str(torchless(root))})
        await raw.open(write(root, ONE))
        await raw.status(health="warning")
        assert asked(raw) == []
        environments = [m["params"] for m in raw.received if m.get("method") == "compileLens/environment"]
        assert environments == [{"python": str(root / "torchless" / "bin" / "python")}]

    async def test_a_file_without_a_region_asks_and_runs_nothing(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root)
        uri = await raw.open(write(root, "import torch\nx = 1  # finding GB0001\n"))
        await raw.save(uri)
        assert await raw.hover(uri, 0, 0) is None
        assert (asked(raw), runs(root)) == ([], [])

    async def test_never_runs_only_what_the_user_asks_for(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, {"run": {"enabled": "never"}})
        uri = await raw.open(write(root, ONE))
        await raw.save(uri)
        await raw.status(state="off")
        assert (asked(raw), runs(root)) == ([], [])
        result = await raw.command("compileLens.analyze", uri)
        assert (result["status"], result["findings"]) == ("ok", 1)

    async def test_analyze_is_an_agreement_to_one_run(self, raw: Editor, root: Path) -> None:
        raw.answers["window/showMessageRequest"] = answering("Not now")
        await raw.initialize(root)
        uri = await raw.open(write(root, ONE))
        await raw.command("compileLens.analyze", uri)
        await raw.published(uri)
        await raw.save(uri)
        await raw.hover(uri, 0, 0)
        assert len(runs(root)) == 1

    async def test_allow_and_revoke_by_command(self, raw: Editor, root: Path) -> None:
        raw.answers["window/showMessageRequest"] = answering("Not now")
        await raw.initialize(root)
        uri = await raw.open(write(root, ONE))
        await raw.wait(lambda message: message.get("method") == "window/showMessageRequest")
        await raw.command("compileLens.allowWorkspace")
        await raw.published(uri)
        since = raw.mark()
        assert await raw.command("compileLens.allowedWorkspaces") == [root.as_uri()]
        await raw.command("compileLens.revokeWorkspace", uri)
        assert await raw.command("compileLens.allowedWorkspaces") == []
        await raw.status(since, state="off")

        def said() -> str:
            # what the server logs, of a check that ended with the host, may follow
            return [line for line in log(root) if not line.startswith(("INFO ", "WARNING "))][-1].split()[0]

        # the host ends after the status has changed
        for _ in range(100):
            if said() == "close":
                break
            await asyncio.sleep(0.05)
        assert said() == "close"
        await raw.save(uri)
        await raw.hover(uri, 0, 0)
        assert (len(runs(root)), len(asked(raw))) == (1, 1)


class TestTrust:
    async def test_nothing_runs_in_a_workspace_that_is_not_trusted(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, {"trusted": False, "settings": ALWAYS})
        await raw.status(state="off", message="Off: this workspace is not trusted")
        uri = await raw.open(write(root, ONE))
        await raw.save(uri)
        assert await raw.command("compileLens.analyze", uri) is None
        await raw.command("compileLens.allowWorkspace")
        hover = await raw.hover(uri, 3, 2)
        assert hover is not None and "not trusted" in hover["contents"]["value"]
        assert (log(root), asked(raw)) == ([], [])
        await raw.notify("compileLens/trust", {"trusted": True})
        await raw.published(uri)

    async def test_trust_that_is_taken_back_ends_everything(self, ed: Editor, root: Path) -> None:
        await ed.open(write(root, HANGS))
        await ed.status(state="analyzing")
        await ed.notify("compileLens/trust", {"trusted": False})
        await logged(root, "cancelled train.py")
        await logged(root, f"close {sys.executable}")
        await ed.status(state="off")


class TestCancel:
    async def test_by_command(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, HANGS))
        await ed.status(state="analyzing")
        since = ed.mark()
        assert await ed.command("compileLens.cancel", uri) is True
        await logged(root, "cancelled train.py")
        await ed.status(since, state="idle")
        assert await ed.command("compileLens.cancel") is False

    async def test_by_the_button_of_the_progress(self, ed: Editor, root: Path) -> None:
        await ed.open(write(root, HANGS))
        await ed.status(state="analyzing")
        begin = await ed.wait(lambda message: message.get("method") == "$/progress")
        assert begin["params"]["value"]["cancellable"] is True
        await ed.notify("window/workDoneProgress/cancel", {"token": begin["params"]["token"]})
        await logged(root, "cancelled train.py")
        await ed.wait(lambda message: (message.get("params") or {}).get("value", {}).get("kind") == "end")

    async def test_cancelling_the_request_cancels_the_run(self, ed: Editor, root: Path) -> None:
        identifier = await ed.begin(
            "workspace/executeCommand",
            {"command": "compileLens.analyze", "arguments": [write(root, HANGS).as_uri()]},
        )
        await ed.status(state="analyzing")
        await ed.notify("$/cancelRequest", {"id": identifier})
        with pytest.raises(RequestError) as caught:
            await ed.answer(identifier)
        assert caught.value.code == CANCELLED
        await logged(root, "cancelled train.py")

    async def test_a_save_ends_the_run_before_it(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, HANGS))
        await ran(root, 1)
        write(root, ONE)
        await ed.change(uri, 2, {"text": ONE})
        await ed.save(uri)
        await ed.published(uri)
        assert "cancelled train.py" in log(root)

    async def test_closing_the_document_ends_its_run(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, HANGS))
        await ed.status(state="analyzing")
        await ed.close(uri)
        await logged(root, "cancelled train.py")

    async def test_a_request_that_another_takes_the_place_of_answers_nothing(self, ed: Editor, root: Path) -> None:
        uri = write(root, HANGS).as_uri()
        call = {"command": "compileLens.analyze", "arguments": [uri]}
        first = await ed.begin("workspace/executeCommand", call)
        await ran(root, 1)
        write(root, ONE)
        assert (await ed.command("compileLens.analyze", uri))["findings"] == 1
        assert await ed.answer(first) is None


class TestSettings:
    async def test_what_a_run_is_given(self, raw: Editor, root: Path) -> None:
        options = {"run": {"enabled": "always", "arguments": ["--steps", "2"], "depth": "aot"}}
        await raw.initialize(root, options)
        await raw.published(await raw.open(write(root, ONE)))
        assert runs(root) == ["run train.py unsaved=False argv=['--steps', '2'] depth=aot varied=[]"]

    async def test_a_bad_value_is_told_once(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, {"run": {"enabled": "always", "timeout": "soon"}})
        uri = await raw.open(write(root, ONE))
        await raw.published(uri)
        sentence = 'Compile Lens: compileLens.run.timeout must be a number of at least 1, not "soon"; 60 is used.'
        bad = {"compileLens": {"run": {"enabled": "always", "timeout": "soon", "onSave": False}}}
        await raw.notify("workspace/didChangeConfiguration", {"settings": bad})
        await raw.hover(uri, 0, 0)
        assert raw.shown() == [sentence]

    async def test_on_open_and_on_save_can_be_off(self, raw: Editor, root: Path) -> None:
        await raw.initialize(root, {"run": {"enabled": "always", "onOpen": False, "onSave": False}})
        uri = await raw.open(write(root, ONE))
        await raw.save(uri)
        await logged(root, f"start {sys.executable}")  # the standby is there for when it is asked for
        assert runs(root) == []
        assert (await raw.command("compileLens.analyze", uri))["findings"] == 1

    async def test_settings_are_asked_for_and_followed(self, raw: Editor, root: Path) -> None:
        said = capabilities()
        said["workspace"]["configuration"] = True
        said["workspace"]["didChangeConfiguration"] = {"dynamicRegistration": True}
        current: dict[str, Any] = {"run": {"enabled": "never"}}
        raw.answers["workspace/configuration"] = lambda params: [current for _ in params["items"]]
        await raw.initialize(root, ALWAYS, capabilities=said)
        register = await raw.wait(lambda message: message.get("method") == "client/registerCapability")
        assert register["params"]["registrations"][0]["registerOptions"] == {"section": "compileLens"}
        await raw.wait(lambda message: message.get("method") == "workspace/configuration")
        uri = await raw.open(write(root, ONE))
        await raw.status(state="off")
        assert runs(root) == []
        current = {"run": {"enabled": "always"}}
        await raw.notify("workspace/didChangeConfiguration", {"settings": None})
        await raw.published(uri)

    async def test_another_interpreter_is_used_from_then_on(self, ed: Editor, root: Path) -> None:
        uri = await ed.open(write(root, ONE))
        await ed.published(uri)
        python = root.parent / "other" / "python"
        python.parent.mkdir()
        python.symlink_to(sys.executable)
        settings = {"compileLens": {"python": str(python), **ALWAYS}}
        await ed.notify("workspace/didChangeConfiguration", {"settings": settings})
        await logged(root, f"close {sys.executable}")
        await logged(root, f"start {python}")
