"""Entries in an editor: the lens that says with what a file was analyzed, choosing another, and keeping inputs that were made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from editor import REAL, Editor, editor
from programs import ALWAYS, ONE, log, ran, write

from compile_lens.lsp.shown_answers import shown_answer

ASKED = "window/showMessageRequest"
MODULE = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x):
        print("a")
        return self.linear(x)
"""


UNKNOWN = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.width = {}["width"]

    def forward(self, x):
        return x * self.width
"""


async def lenses(ed: Editor, uri: str, command: str) -> list[dict[str, Any]]:
    return [lens for lens in await ed.lenses(uri) if lens["command"]["command"] == command]


def entries(root: Path) -> list[str]:
    """The entries that the stub server was asked to run."""
    return [line.partition(" ")[2] for line in log(root) if line.startswith("entry ")]


async def execute(ed: Editor, command: str, *arguments: str) -> Any:
    return await ed.request("workspace/executeCommand", {"command": command, "arguments": list(arguments)})


async def test_the_lens_says_with_what_and_leads_to_another_choice(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE + "\n\ndef get_inputs():\n    return [torch.ones(2)]\n\n\nf(1)\n"))
    await ed.status(state="idle", findings=1)
    (lens,) = await lenses(ed, uri, "compileLens.chooseEntry")
    assert lens["command"]["title"] == "Analyzed with get_inputs() · change"
    assert lens["command"]["arguments"] == [uri]
    listed = await execute(ed, "compileLens.entries", uri)
    assert [(entry["entry"], entry["chosen"]) for entry in listed] == [
        ("get_inputs", False),
        ("script", False),
        ("model", False),
        ("synthesized", False),
    ]
    asked: list[Any] = []

    def answer(params: Any) -> Any:
        asked.append(params)
        return params["actions"][1]

    ed.answers[ASKED] = answer
    await execute(ed, "compileLens.chooseEntry", uri)
    assert [action["title"] for action in asked[0]["actions"]] == [
        "get_inputs",
        "script",
        "model",
        "synthesized",
        "Automatically",
    ]
    assert entries(root)[0] == "get_inputs"
    assert entries(root)[1] == "script"
    (lens,) = await lenses(ed, uri, "compileLens.chooseEntry")  # the way back
    assert lens["command"]["title"] == "Analyzed with the file as a script · change"
    # it is remembered: the next save runs it the same way
    await ed.save(uri)
    await ran(root, 3)
    assert entries(root)[2] == "script"
    await execute(ed, "compileLens.chooseEntry", uri, "auto")
    assert entries(root)[3] == "get_inputs"


async def test_a_name_of_a_file_reorders_nothing_in_lists_and_buttons(ed: Editor, root: Path) -> None:
    (root / "test_\u202enet.py").write_text("from train import Net\n\n\ndef test_it():\n    Net(3)\n")
    uri = await ed.open(write(root, MODULE))
    spec = "test_\u202enet.py::test_it"
    listed = await execute(ed, "compileLens.entries", uri)
    assert spec in [entry["entry"] for entry in listed]
    assert not [entry for entry in listed if "\u202e" in entry["origin"]]
    asked: list[str] = []

    def choose(params: Any) -> Any:
        asked.extend(action["title"] for action in params["actions"])
        return {"title": "test_\\u202enet.py::test_it"}

    ed.answers[ASKED] = choose
    await execute(ed, "compileLens.chooseEntry", uri)
    assert "test_\\u202enet.py::test_it" in asked and not any("\u202e" in title for title in asked)
    assert {entry["entry"] for entry in await execute(ed, "compileLens.entries", uri) if entry["chosen"]} == {spec}


def test_what_answers_show_is_written_out_and_what_comes_back_stays() -> None:
    said, graph = "f\x1b]0;t\x07\u202e", "compile-lens-stage:/\u202e"
    answer = {
        "sources": [
            {"title": said, "graphs": ({"title": said, "stages": [{"uri": graph, "title": said, "kernel": said}]},)}
        ],
        "notes": [said],
        "changed": True,
    }
    shown = "f\\x1b]0;t\\x07\\u202e"
    stage = {"uri": graph, "title": shown, "kernel": said}
    assert shown_answer(answer) == {
        "sources": [{"title": shown, "graphs": [{"title": shown, "stages": [stage]}]}],
        "notes": [shown],
        "changed": True,
    }


# a module that a file imports may do the same
FORGES = """import gc
import sys

import torch

BAD = "__import__('os').system('x')"
wire = next(o for o in gc.get_objects() if type(o).__name__ == "Wire")
protocol = next(module for name, module in sys.modules.items() if name.endswith("entry_protocol"))
made = protocol.CallMade(f"Net(width=4 + 0 * {BAD})(x=float32[2, 4])", "Net(width=4)", "x: float32[2, 4]", "Net")
wire.tell(protocol.EntryCalled(calls=(made,)))
wire.tell(protocol.EntryCalled(failed=(protocol.CallNotMade("Other", "it failed", f"Other(table={BAD})", 8, ("table",)),)))


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Other(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.width = {}["width"]

    def forward(self, x):
        return x * self.width
"""


async def test_the_comment_in_unsaved_text_counts(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE + "\n\nf(1)\n"))
    await ed.status(state="idle", findings=1)
    await ed.insert(uri, 2, 0, "# compile-lens: entry=synthesized:f\n")
    await execute(ed, "compileLens.analyze", uri)
    assert entries(root)[-1] == "synthesized:f"
    await ed.change(uri, 3, {"text": "# compile-lens: entry=nowhere\n" + ONE})
    since = ed.mark()
    await execute(ed, "compileLens.analyze", uri)
    told = await ed.wait(lambda message: message.get("method") == "window/showMessage", since)
    assert told["params"]["message"].startswith("Compile Lens: train.py has no entry 'nowhere'.")


@pytest.mark.slow
@pytest.mark.xdist_group("entries")
async def test_what_would_torch_compile_do_and_keeping_its_inputs(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, ALWAYS)
        uri = await ed.open(write(root, MODULE))
        (lens,) = await lenses(ed, uri, "compileLens.analyzeAsIfCompiled")
        assert lens["command"]["title"] == "Analyze as if compiled"
        assert lens["command"]["arguments"] == [uri, "Net"]
        answer = await execute(ed, "compileLens.analyzeAsIfCompiled", *lens["command"]["arguments"])
        # the break, and what other sizes would do
        assert answer["status"] == "ok"
        assert answer["findings"] > 0
        (made,) = await lenses(ed, uri, "compileLens.showDetails")
        assert made["command"]["title"].startswith("If compiled: ")
        assert " · Net(width=32) on x: float32[" in made["command"]["title"]
        here = {"start": {"line": 8, "character": 0}, "end": {"line": 8, "character": 0}}
        asked = {"textDocument": {"uri": uri}, "range": here, "context": {"diagnostics": []}}
        actions = {action["title"]: action for action in await ed.request("textDocument/codeAction", asked)}
        call = next(title.split(": ", 1)[1] for title in actions if title.startswith("Keep these inputs in a comment"))
        (edit,) = edits(actions[f"Keep these inputs in a comment: {call}"])
        assert edit["newText"] == f"# compile-lens: entry={call}\n"  # what is written is what is shown
        assert call.startswith("Net(width=32)(x=float32[")
        assert edit["range"]["start"] == {"line": 0, "character": 0}
        (functions,) = edits(actions[f"Keep these inputs as `get_inputs()`: {call}"])
        assert 'def get_inputs():\n    return {"x": torch.randn(' in functions["newText"]
        assert 'def get_init_inputs():\n    return {"width": 32}' in functions["newText"]
        # the lens stands at each class, and what could not be called has a call to complete
        whole = await ed.open(write(root, MODULE, "whole.py"))
        await execute(ed, "compileLens.analyze", whole)
        analyzed = await lenses(ed, whole, "compileLens.showDetails")
        assert "analyzed" in [lens["command"]["title"] for lens in analyzed]
        other = await ed.open(write(root, UNKNOWN, "unknown.py"))
        await execute(ed, "compileLens.analyze", other)
        titles = {lens["command"]["title"] for lens in await lenses(ed, other, "compileLens.analyzeAsIfCompiled")}
        assert any(title.startswith("not analyzed: its constructor failed: KeyError") for title in titles)
        asked["textDocument"] = {"uri": other}
        actions = {action["title"]: action for action in await ed.request("textDocument/codeAction", asked)}
        skeleton = "Write a skeleton call of `Net` as a comment, and change `table`: "
        call = next(title.removeprefix(skeleton) for title in actions if title.startswith(skeleton))
        (edit,) = edits(actions[f"{skeleton}{call}"])
        assert (edit["newText"], call[:10]) == (f"# compile-lens: entry={call}\n", "Net(table=")
        (edit,) = edits(actions[f"Write a skeleton of `get_inputs()` for `Net`: {call}"])
        # a call like it failed, and it says where
        assert "# It fails at line " in edit["newText"]
        assert "change `table`. Check `x`, too.\ndef get_inputs():" in edit["newText"]


@pytest.mark.slow
@pytest.mark.xdist_group("entries")
async def test_what_a_program_says_of_its_calls_is_not_offered_as_code(root: Path) -> None:
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, ALWAYS)
        uri = await ed.open(write(root, FORGES))
        await execute(ed, "compileLens.analyze", uri)
        for line in (FORGES[: FORGES.index(name)].count("\n") for name in ("class Net", "class Other")):
            here = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}
            asked = {"textDocument": {"uri": uri}, "range": here, "context": {"diagnostics": []}}
            for action in await ed.request("textDocument/codeAction", asked):
                assert "__import__" not in str(action), action["title"]


def edits(action: Any) -> Any:
    changes = action["edit"].get("documentChanges")
    return changes[0]["edits"] if changes else next(iter(action["edit"]["changes"].values()))


async def test_a_setting_runs_no_file_outside_of_the_workspace(raw: Editor, root: Path) -> None:
    """A repository may have one for the folder; the list of entries is the user's own word."""
    elsewhere = root.parent / f"{root.name}-elsewhere.py"
    elsewhere.write_text(ONE)
    spec = str(elsewhere)
    try:
        await raw.initialize(root, {"run": {"enabled": "always", "entry": spec}})
        uri = await raw.open(write(root, MODULE))
        await execute(raw, "compileLens.analyze", uri)
        assert not entries(root)
        shown = [one["params"]["message"] for one in raw.received if one.get("method") == "window/showMessage"]
        assert any("Not run: the setting compileLens.run.entry names" in text for text in shown), shown
    finally:
        elsewhere.unlink()
