"""Predictions in the editor: shown as the user types, and gone where a run has told what happens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from editor import PREDICTED, REAL, Editor, Message, capabilities, editor, of_runs, predicted
from programs import HEAD, LINE, ONE, RANGE, ran, runs, write

NEVER = {"run": {"enabled": "never"}}
TWO = ONE + "\n\n@torch.compile\ndef g(x):\n    breakpoint()\n    return x\n"


def everything(diagnostics: list[Message]) -> list[Message]:
    return diagnostics


def codes(diagnostics: list[Message]) -> list[tuple[str, int]]:
    return [(entry["code"], entry["range"]["start"]["line"]) for entry in diagnostics]


async def test_before_anything_may_run_what_will_break_is_a_hint_that_says_it_is_predicted(
    raw: Editor, root: Path
) -> None:
    await raw.initialize(root, None)
    uri = await raw.open(write(root, ONE))
    (found,) = await raw.published(uri, part=predicted)
    assert (found["range"], found["code"], found["severity"], found["source"]) == (RANGE, "GB0059", 4, PREDICTED)
    assert found["message"] == "Predicted graph break: Dynamo does not trace `print`."
    assert found["relatedInformation"][0]["location"]["range"]["start"] == {"line": 3, "character": 0}
    assert runs(root) == []
    hover = await raw.hover(uri, LINE, 6)
    assert hover is not None
    for said in (
        "**Prediction** `GB0059`",
        "without a run",
        "Rule `print`",
        "were right",
        "What to do",
        "added in torch 2.8",
    ):
        assert said in hover["contents"]["value"]


async def test_in_a_workspace_that_is_not_trusted_too(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"trusted": False, **NEVER})
    assert codes(await raw.published(await raw.open(write(root, ONE)), part=predicted)) == [("GB0059", LINE)]
    assert [line for line in (root.parent / "server.log").read_text().splitlines() if line.startswith("start")] == []


async def test_they_follow_the_typing(raw: Editor, root: Path) -> None:
    await raw.initialize(root, NEVER)
    uri = await raw.open(write(root, HEAD + "    return x\n"))
    await raw.insert(uri, 2, LINE, "    y = x.item()\n")
    await raw.published(uri, lambda found: codes(found) == [("GB0124", LINE)], part=predicted)
    await raw.insert(uri, 3, 0, "\n")
    await raw.published(uri, lambda found: codes(found) == [("GB0124", LINE + 1)], part=predicted)
    since = raw.mark()
    await raw.change(uri, 4, {"text": "import torch\n"})
    await raw.published(uri, lambda found: not found, since, part=predicted)


async def test_a_run_replaces_them_right_or_wrong_and_they_come_back_only_where_the_text_is_new(
    ed: Editor, root: Path
) -> None:
    """The stub's run finds nothing at the second print: that prediction turned out wrong."""
    uri = await ed.open(write(root, ONE.replace("    return x\n", "    print(1)\n    return x\n")))
    await ed.published(uri, lambda found: codes(found) == [("GB0001", LINE)], part=everything)
    since = ed.mark()
    await ed.insert(uri, 2, LINE + 2, "    breakpoint()\n")
    found = await ed.published(uri, lambda found: len(found) == 2, since, part=everything)
    assert (codes(of_runs(found)), codes(predicted(found))) == ([("GB0001", LINE)], [("GB0059", LINE + 2)])
    since = ed.mark()
    await ed.insert(uri, 3, LINE + 1, " # edited", character=12)
    found = await ed.published(uri, lambda found: len(found) == 3, since, part=everything)
    assert codes(predicted(found)) == [("GB0059", LINE + 1), ("GB0059", LINE + 2)]
    since = ed.mark()
    await ed.save(uri)
    await ed.published(uri, lambda found: codes(found) == [("GB0001", LINE)], since, part=everything)


async def test_what_a_run_did_not_reach_stays_predicted(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"run": {"enabled": "always"}}, capabilities=capabilities(pull=True))
    uri = await raw.open(write(root, "# skip g\n" + TWO))
    await ran(root, 1)
    await raw.status(state="idle", findings=1)
    since = raw.mark()
    report = await raw.pull(uri)
    if not report["predicted"]:  # read in a thread: the server says when
        await raw.wait(lambda message: message.get("method") == "workspace/diagnostic/refresh", since)
        report = await raw.pull(uri)
    assert codes(report["items"]) == [("GB0001", LINE + 1)]
    assert codes(report["predicted"]) == [("GB0059", LINE + 7)]


async def test_a_run_of_another_file_answers_for_the_regions_that_it_compiled(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"run": {"enabled": "always", "onOpen": False}})
    model = write(root, "import torch\n\n\n@torch.compile\ndef g(x):\n    print(x)\n    return x\n", "model.py")
    main = await raw.open(write(root, ONE + "# in model.py 6\n# compiles model.py\n"))
    await raw.command("compileLens.analyze", main)
    since = raw.mark()
    uri = await raw.open(model)
    await raw.insert(uri, 2, 6, "    breakpoint()\n")
    await raw.published(uri, lambda found: codes(found) == [("GB0059", 6)], since, part=predicted)
    since = raw.mark()
    await raw.close(main)
    await raw.published(uri, lambda found: len(found) == 2, since, part=predicted)


async def test_settings_turn_off_all_of_them_or_single_rules(raw: Editor, root: Path) -> None:
    await raw.initialize(root, NEVER)
    uri = await raw.open(write(root, HEAD + "    print(x)\n    breakpoint()\n"))
    both = [("GB0059", LINE), ("GB0059", LINE + 1)]
    await raw.published(uri, lambda found: codes(found) == both, part=predicted)

    async def use(settings: Message, expected: list[tuple[str, int]]) -> list[Message]:
        since = raw.mark()
        await raw.notify("workspace/didChangeConfiguration", {"settings": {"compileLens": {**NEVER, **settings}}})
        return await raw.published(uri, lambda found: codes(found) == expected, since, part=predicted)

    await use({"predictions": {"rules": {"print": False}}}, [("GB0059", LINE + 1)])
    await use({"predictions": {"enabled": False}}, [])
    found = await use({"severity": {"prediction": "information", "GB0059": "error"}}, both)
    assert [one["severity"] for one in found] == [3, 3]
    await use({"severity": {"GB0059": "off"}}, [])


async def test_a_comment_ignores_them(raw: Editor, root: Path) -> None:
    await raw.initialize(root, NEVER)
    text = HEAD + "    print(x)  # compile-lens: ignore[GB0059] wanted\n    breakpoint()\n    return x\n"
    found = await raw.published(await raw.open(write(root, text)), part=everything)
    assert codes(found) == [("GB0059", LINE + 1)]


async def test_a_rule_that_does_not_exist_is_told(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"predictions": {"rules": {"prnt": False}}})
    message = await raw.wait(lambda m: m.get("method") == "window/showMessage")
    assert "compileLens.predictions.rules must be an object that maps rule names" in message["params"]["message"]


async def test_half_typed_code_is_no_trouble(raw: Editor, root: Path) -> None:
    await raw.initialize(root, NEVER)
    uri = await raw.open(write(root, ONE))
    for version, cut in enumerate(range(0, len(ONE), 3), 2):
        await raw.change(uri, version, {"text": ONE[:cut] + "(" * (cut % 5)})
    since = raw.mark()
    await raw.change(uri, 999, {"text": TWO})
    await raw.published(uri, lambda found: len(found) == 2, since, part=predicted)
    assert "ERROR" not in (root.parent / "server.log").read_text()


@pytest.mark.slow
async def test_with_torch_the_truth_takes_their_place(root: Path) -> None:
    """The branch is predicted before the run; ``print`` under a condition that is false is predicted, and does not happen."""
    text = (
        "import torch\n\nVERBOSE = torch.backends.mkldnn.is_available() and False\n\n\n@torch.compile\ndef step(x):\n"
        "    if x.sum() > 0:\n        return x + 1\n    if VERBOSE:\n        print(x)\n    return x - 1\n\n\nstep(torch.ones(3))\n"
    )
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"python": sys.executable})
        uri = await ed.open(write(root, text))
        question = await ed.wait(lambda message: message.get("method") == "window/showMessageRequest")
        await ed.published(uri, lambda found: codes(found) == [("GB0170", 7), ("GB0059", 10)], part=predicted)
        await ed.send({"id": question["id"], "result": {"title": "Allow"}})
        found = await ed.published(
            uri, lambda found: len(of_runs(found)) == 1 and not predicted(found), part=everything
        )
        assert codes(found) == [("GB0170", 7)]
        assert await ed.shut_down() == 0
