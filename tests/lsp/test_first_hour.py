"""What a new user meets in the first hour, with the user's torch: broken files, questions about a class, details, places for a repro."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from editor import REAL, Editor, Message, capabilities, editor
from programs import write

from processes import Mark

ALWAYS = {"python": sys.executable, "run": {"enabled": "always"}, "fixes": {"verify": False}}
ALL_OF_VSCODE = {
    "compileLensStatus": True,
    "compileLensPages": True,
    "compileLensCommandLinks": True,
    "compileLensMessagesInHovers": True,
}


def vscode() -> Message:
    """What the extension says of itself."""
    said = capabilities(workspace={"applyEdit": True, "workspaceEdit": {"documentChanges": True}})
    return {**said, "experimental": ALL_OF_VSCODE}


async def lenses(ed: Editor, uri: str) -> list[tuple[int, str, str]]:
    return [
        (lens["range"]["start"]["line"] + 1, lens["command"]["title"], lens["command"]["command"])
        for lens in await ed.lenses(uri)
    ]


async def results(ed: Editor, uri: str) -> dict[int, str]:
    """The titles of the lenses whose click shows details, by line."""
    return {line: title for line, title, command in await lenses(ed, uri) if command == "compileLens.showDetails"}


async def value(ed: Editor, uri: str, line: int, column: int) -> str:
    """The hover at a place that counts from 1."""
    hover = await ed.hover(uri, line - 1, column - 1)
    assert hover is not None
    return str(hover["contents"]["value"])


async def page(ed: Editor, since: int) -> dict[str, Any]:
    shown: dict[str, Any] = (await ed.wait(lambda m: m.get("method") == "compileLens/showPage", since))["params"]
    return shown


REGION = """\
import torch


@torch.compile(backend="eager")
def step(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


class Unused(torch.nn.Module):
    def forward(self, x):
        print("in the middle")
        return x + 1


if __name__ == "__main__":
    step(torch.ones(3))
"""


def breaks_of(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["code"].startswith("GB")]


async def test_the_answer_about_a_class_stands_at_it_beside_the_findings_of_the_file(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, ALWAYS, capabilities=vscode())
        uri = await ed.open(write(root, REGION))
        (found,) = await ed.published(uri)
        await ed.status(state="idle", findings=1)
        assert (11, "Analyze as if compiled", "compileLens.analyzeAsIfCompiled") in await lenses(ed, uri)
        await ed.command("compileLens.analyzeAsIfCompiled", uri, "Unused")
        both = await ed.published(uri, lambda items: len(breaks_of(items)) == 2)
        first, second = breaks_of(both)
        assert first == found
        assert (second["code"], second["range"]["start"]["line"]) == ("GB0059", 12)
        titles = await results(ed, uri)
        assert titles[4] == "2 graphs · 1 break"
        assert titles[11].startswith("If compiled: 1 graph · 1 break · Unused() on x: float32[")

        since = ed.mark()
        (lens,) = [lens for lens in await lenses(ed, uri) if lens[0] == 11]
        assert lens[2] == "compileLens.showDetails"
        await ed.command(lens[2], uri, "11")
        shown = await page(ed, since)
        assert shown["title"] == "Unused in train.py"
        assert "Analyzed as if it were compiled, with `Unused() on x: float32[" in shown["markdown"]
        assert "## Line 13: Graph break: " in shown["markdown"]

        # the file runs again: it has not changed, so that the answer stays
        since = ed.mark()
        await ed.save(uri)
        assert (await ed.status(since, state="idle"))["findings"] >= 2
        # a class for which no inputs are found says so at the class, and is no failure of the product
        head = "class Unused(torch.nn.Module):"
        text = REGION.replace(head, f"{head}\n    def __init__(self):\n        raise OSError('no')\n")
        await ed.change(uri, 2, {"text": text})
        since = ed.mark()
        await ed.command("compileLens.analyzeAsIfCompiled", uri, "Unused")
        titles = await results(ed, uri)
        assert titles[11] == "If compiled: no inputs were found"
        assert titles[4] == "2 graphs · 1 break"
        assert (await ed.status(since, state="idle"))["health"] == "warning"


async def test_what_keeps_a_file_from_running_is_shown_in_it_and_at_once(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, ALWAYS)
        begin = time.monotonic()
        broken = await ed.open(write(root, REGION.replace("return x + 1", "return x +* 1", 1)))
        (error,) = await ed.published(broken)
        # known before the first process has imported torch
        assert not [
            m for m in ed.received if m.get("method") == "compileLens/status" and m["params"]["state"] == "analyzing"
        ]
        assert (error["message"], error["severity"]) == ("The file cannot be run: SyntaxError: invalid syntax.", 1)
        assert (error["range"]["start"]["line"], error["range"]["start"]["character"]) == (6, 18)
        print(f"the syntax error was shown after {time.monotonic() - begin:.2f} s")
        await ed.status(state="idle", findings=1)
        await ed.close(broken)

        # no region can be seen in it
        hidden = await ed.open(write(root, REGION.replace("def step(x):", "def step(x:"), "hidden.py"))
        (error,) = await ed.published(hidden)
        assert error["message"].startswith("The file cannot be run: SyntaxError:")
        await ed.close(hidden)

        write(root, "import torch\nthing = torch.nope\n", "helper_module.py")
        since = ed.mark()
        uri = await ed.open(write(root, f"import torch\nfrom helper_module import thing\n{REGION}", "user.py"))
        (error,) = await ed.published(uri)
        assert error["message"] == (
            "As a script: The program raised `AttributeError`: module 'torch' has no attribute 'nope' (at helper_module.py:2)."
        )
        assert (error["severity"], error["range"]["start"]["line"]) == (1, 1)
        assert error["relatedInformation"][0]["location"]["uri"].endswith("helper_module.py")
        await ed.status(since, state="analyzing")
        while "analyzing…" in (titles := await results(ed, uri))[6]:
            await asyncio.sleep(0.1)
        # what does not need the import is analyzed all the same
        assert titles == {6: "2 graphs · 1 break"}


FAILS = """\
import torch


@torch.compile
def multiply(x, y):
    return x @ y


@torch.compile(backend="eager")
def replayed(x, log=[]):
    log.append(1)
    return x.double() * 2


@torch.compile(backend="eager")
def steps(x):
    return x * 2


replayed(torch.ones(3))
for n in (3, 4):
    steps(torch.ones(n))
multiply(torch.ones(3, 4), torch.ones(3, 4))
"""


async def test_hovers_say_each_thing_once_and_what_to_do_first(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {**ALWAYS, "run": {"enabled": "always", "onOpen": False}}, capabilities=vscode())
        uri = await ed.open(write(root, FAILS))
        await ed.command("compileLens.analyze", uri)
        found = await ed.published(uri, lambda items: any(item["code"] == "fake-tensor-error" for item in items))
        said = {item["range"]["start"]["line"] + 1: item for item in found}

        error = await value(ed, uri, 6, 14)
        assert "Traceback" not in error and "torch/_dynamo" not in error and "get_fake_value" not in error
        assert error.index("**What to do**") < error.index("**Call path**")
        titles = await results(ed, uri)
        assert titles[4] == "compile error"
        assert (
            titles[9] == "compiled ✓ · 1 graph"
        )  # seconds of a run that stops after Dynamo are not those of a compilation

        recompile = await value(ed, uri, 16, 11)
        assert said[16]["message"] not in recompile  # the editor shows it above
        assert recompile.count("**What to do**") == 1
        (link,) = [line for line in recompile.splitlines() if "dynamic=True" in line and "command:" in line]
        why = "not verified: compileLens.fixes.verify is off"
        assert link.startswith(f"- [Compile with `dynamic=True` ({why})](command:compileLens.applyFix?")

        # the message of a hint is shown by the editor at its first characters only
        assert said[11]["severity"] == 4
        assert "Side effect: this line changes `log` (a `list`)" in await value(ed, uri, 11, 12)

        applied: list[Any] = []
        ed.answers["workspace/applyEdit"] = lambda params: applied.append(params["edit"]) or {"applied": True}
        arguments = json.loads(unquote(link.partition("?")[2].rstrip(")")))
        assert await ed.command("compileLens.applyFix", *arguments) is True
        (change,) = applied[0]["documentChanges"]
        assert "dynamic=True" in change["edits"][0]["newText"]
        await ed.insert(uri, 2, 0, "# typed\n")
        assert await ed.command("compileLens.applyFix", *arguments) is False


ENDLESS = """\
import time
import torch


@torch.compile(backend="eager")
def step(x):
    return x + 1


step(torch.ones(3))
while True:
    time.sleep(0.05)
"""


async def test_a_run_that_was_ended_because_it_compiled_nothing_more_says_so(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {**ALWAYS, "budget": {"idle": 1}})
        uri = await ed.open(write(root, ENDLESS))
        status = await ed.status(state="idle", message="No findings. train.py was stopped early.")
        assert status["health"] == "ok"
        assert [title for _, title, _ in await lenses(ed, uri)] == ["compiled ✓ · 1 graph · run stopped early"]
        assert "stopped early, because it compiled nothing more" in await value(ed, uri, 5, 4)


async def test_a_repro_asks_for_its_place_and_can_be_canceled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = Mark()
    for name, text in mark.environment.items():
        monkeypatch.setenv(name, text)
    async with editor(root.parent, REAL) as ed:
        questions: list[list[str]] = []

        def answer(params: Any) -> dict[str, str] | None:
            questions.append([action["title"] for action in params["actions"]])
            return None if len(questions) == 1 else {"title": "In the folder repros"}

        ed.answers["window/showMessageRequest"] = answer
        await ed.initialize(root, {**ALWAYS, "run": {"enabled": "never"}})
        uri = await ed.open(write(root, ENDLESS))
        before = {path.name for path in root.rglob("*")}
        assert await ed.command("compileLens.writeRepro", uri, "region:step") is None
        assert questions == [["In the folder repros", "Beside train.py"]]
        assert {path.name for path in root.rglob("*")} == before

        request = await ed.begin(
            "workspace/executeCommand", {"command": "compileLens.writeRepro", "arguments": [uri, "region:step"]}
        )
        begun = await ed.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin")
        assert begun["params"]["value"]["message"].startswith("Writing a repro (`step`)")
        await ed.wait(
            lambda m: m.get("method") == "$/progress" and "running train.py" in m["params"]["value"].get("message", "")
        )
        assert await ed.command("compileLens.cancel") is True
        assert await ed.answer(request) is None
        await asyncio.sleep(0)
        assert await ed.shut_down() == 0
    assert mark.none_left()
