"""All findings of a file or of a region fixed from an editor: each step verified, shown as a diff, and nothing unasked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from editor import REAL, Editor, capabilities, editor
from programs import ONE, log, logged, ran, until, write

TWO_REGIONS = """\
import torch


@torch.compile
def f(x):
    torch._dynamo.graph_break()
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


@torch.compile
def g(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


f(torch.ones(3))
g(torch.ones(3))
"""
BREAK = "    torch._dynamo.graph_break()\n"
IN_F, IN_G = (5, 8), (14, 8)
OF_FILE, OF_F = "Fix all findings of this file…", "Fix all findings of `f`…"
CHECK = "check train.py unsaved=True argv=[] depth=dynamo"
KIND = "source.fixAll.compileLens"
INVOKED, AUTOMATIC = 1, 2


async def actions(
    ed: Editor, uri: str, place: tuple[int, int], only: str | None = None, trigger: int = INVOKED
) -> dict[str, Any]:
    point = {"line": place[0], "character": place[1]}
    context = {"diagnostics": [], "triggerKind": trigger, **({"only": [only]} if only else {})}
    params = {"textDocument": {"uri": uri}, "range": {"start": point, "end": point}, "context": context}
    return {action["title"]: action for action in await ed.request("textDocument/codeAction", params)}


def applied(text: str, edits: list[Any]) -> str:
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda edit: -edit["range"]["start"]["line"]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["character"] == end["character"] == 0
        lines[start["line"] : end["line"]] = [edit["newText"]]
    return "".join(lines)


async def test_a_region_and_then_the_file_become_clean(root: Path) -> None:
    shown: list[Any] = []
    edits: list[Any] = []
    says_yes = False

    def ask(params: Any) -> bool:
        shown.append(params)
        return says_yes

    workspace = {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}
    said = capabilities(workspace=workspace, experimental={"compileLensChanges": True})
    async with editor(root.parent, REAL) as ed:
        ed.answers["compileLens/confirmChange"] = ask
        ed.answers["workspace/applyEdit"] = lambda params: edits.append(params["edit"]) or {"applied": True}
        options = {"python": sys.executable, "run": {"enabled": "always"}, "fixes": {"verify": False}}
        await ed.initialize(root, options, capabilities=said)
        uri = await ed.open(write(root, TWO_REGIONS))
        await ed.status(state="idle", findings=3)

        # what is offered: the file as a source action, a region with several findings at each of them
        assert list(await actions(ed, uri, IN_G, KIND)) == [OF_FILE]
        at_f, at_g = await actions(ed, uri, IN_F, "quickfix"), await actions(ed, uri, IN_G, "quickfix")
        assert list(at_f)[-2:] == [OF_F, OF_FILE]
        assert OF_FILE in at_g and OF_F.replace("f`", "g`") not in at_g
        # a save gets nothing as long as nothing is verified
        assert await actions(ed, uri, (0, 0), KIND, AUTOMATIC) == {}

        # a region: the other one stays as it is, and nothing happens to the text that the user refuses
        done = await ed.request("workspace/executeCommand", at_f[OF_F]["command"])
        assert done == {"applied": False, "fixes": 2, "remaining": 0}
        of_region = TWO_REGIONS.replace(BREAK, "", 2)
        message = "Compile Lens: 2 verified fixes: 3 → 1 break, 4 → 3 graphs, results equal. Apply to train.py?"
        assert shown == [{"uri": uri, "title": "Fixes of train.py", "message": message, "text": of_region}]
        assert edits == []
        told = [m["params"]["value"].get("message", "") for m in ed.received if m.get("method") == "$/progress"]
        assert any(message.startswith("train.py: step 2: trying ") for message in told)

        # the file: what was verified for the region is not run again
        says_yes, since = True, ed.mark()
        at_f[OF_FILE]["command"]["arguments"] = [uri]
        waiting = await ed.begin("workspace/executeCommand", at_f[OF_FILE]["command"])
        await ed.wait(lambda message: message.get("method") == "workspace/applyEdit", since)
        (change,) = edits[0]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        text = applied(TWO_REGIONS, change["edits"])
        assert text == TWO_REGIONS.replace(BREAK, "") == shown[1]["text"]

        # the same text again: what is verified now is there for a save, if the user's settings name it
        on_save = await actions(ed, uri, (0, 0), KIND, AUTOMATIC)
        (edit,) = [action["edit"] for action in on_save.values()]
        assert applied(TWO_REGIONS, edit["documentChanges"][0]["edits"]) == text
        for other in ("source.fixAll", "source", "quickfix"):
            assert not any(a.get("kind") == KIND for a in (await actions(ed, uri, IN_F, other, AUTOMATIC)).values())

        assert (await ed.answer(waiting))["applied"] is True
        since = ed.mark()
        await ed.change(uri, 2, {"text": text})
        await ed.save(uri)
        await ed.status(since, state="idle", findings=0)
        assert await actions(ed, uri, IN_F, KIND) == {}
        assert await ed.shut_down() == 0


async def test_where_an_editor_cannot_ask_the_server_shows_the_diff_and_asks(root: Path) -> None:
    questions: list[str] = []

    def ask(params: Any) -> Any:
        questions.append(params["message"])
        return {"title": "Discard" if len(questions) == 1 else "Apply"}

    said = capabilities(workspace={"applyEdit": True}, experimental={"compileLensPages": True})
    async with editor(root.parent, REAL) as ed:
        edits: list[Any] = []
        ed.answers["window/showMessageRequest"] = ask
        ed.answers["workspace/applyEdit"] = lambda params: edits.append(params["edit"]) or {"applied": True}
        options = {"python": sys.executable, "run": {"enabled": "never"}}
        await ed.initialize(root, options, capabilities=said)
        program = f"import torch\n\n\n@torch.compile\ndef f(x):\n{BREAK}    return x * 2\n\n\nf(torch.ones(3))"
        uri = await ed.open(write(root, program))
        assert (await ed.command("compileLens.fixAll", uri))["applied"] is False and edits == []
        again = await ed.command("compileLens.fixAll", uri)
        assert again == {"applied": True, "fixes": 1, "remaining": 0}
        assert questions[0].startswith("Compile Lens: 1 verified fix: 1 → 0 breaks, results equal. Apply to")
        page = await ed.wait(lambda message: message.get("method") == "compileLens/showPage")
        assert "```diff\n--- a/train.py" in page["params"]["markdown"]
        assert applied(program, edits[0]["changes"][uri]) == program.replace(BREAK, "")


async def test_what_ends_the_tries(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE + "# check hangs\n"))
    await ran(root, 1)
    await logged(root, CHECK)
    waiting = await ed.begin("workspace/executeCommand", {"command": "compileLens.fixAll", "arguments": [uri]})
    # not behind what is checked in the background, which hangs
    await until(lambda: log(root).count(CHECK) == 2)
    assert await ed.command("compileLens.fixAll", uri) is None
    assert ed.shown() == ["Compile Lens: fixes of train.py are already being tried."]
    assert await ed.command("compileLens.cancel", uri) is True
    assert await ed.answer(waiting) is None
    await until(lambda: log(root).count("cancelled train.py") >= 2)


async def test_why_nothing_is_fixed(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ran(root, 1)
    assert await ed.command("compileLens.fixAll", uri) == {"applied": False, "fixes": 0, "remaining": 1}
    assert ed.shown()[0].startswith("Compile Lens: no verified fix for train.py. Line 6: ")
