"""Findings in the editor: where they are, how they move, and that they come by one way only."""

from __future__ import annotations

from pathlib import Path

from editor import Editor, Message, capabilities
from programs import HEAD, LINE, ONE, RANGE, runs, write

ALWAYS = {"run": {"enabled": "always"}}


def pushes(ed: Editor, since: int = 0) -> list[Message]:
    return [m["params"] for m in ed.received[since:] if m.get("method") == "textDocument/publishDiagnostics"]


def refreshes(ed: Editor, since: int = 0) -> int:
    return sum(m.get("method") == "workspace/diagnostic/refresh" for m in ed.received[since:])


async def refreshed(ed: Editor, since: int) -> None:
    await ed.wait(lambda message: message.get("method") == "workspace/diagnostic/refresh", since)


async def puller(ed: Editor, root: Path) -> Message:
    # what is predicted asks for refreshes of its own: tests/lsp/test_prediction_hints.py
    options = {**ALWAYS, "predictions": {"enabled": False}}
    result = await ed.initialize(root, options, capabilities=capabilities(pull=True))
    return result["capabilities"]


async def test_a_finding_is_shown_at_its_range_with_all_that_belongs_to_it(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, HEAD + "    print(x)  # finding GB0002\n"))
    assert await ed.published(uri) == [
        {
            "range": RANGE,
            "message": "Graph break GB0002 (2 times)",
            "severity": 2,
            "code": "GB0002",
            "codeDescription": {"href": "https://example.invalid/gb0002"},
            "source": "compile-lens",
            "relatedInformation": [
                {
                    "location": {
                        "uri": uri,
                        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 6}},
                    },
                    "message": "the import",
                }
            ],
        }
    ]


async def test_related_places_only_for_editors_that_show_them(raw: Editor, root: Path) -> None:
    said = capabilities()
    said["textDocument"]["publishDiagnostics"] = {}
    await raw.initialize(root, ALWAYS, capabilities=said)
    (found,) = await raw.published(await raw.open(write(root, ONE)))
    assert "relatedInformation" not in found


async def test_findings_move_with_edits_and_go_when_their_line_is_edited(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, HEAD + "    print(x)  # finding GB0001\n    abs(x)  # finding GB0003\n"))
    await ed.published(uri, lambda found: len(found) == 2)
    await ed.insert(uri, 2, 0, "# above\n# above\n")
    moved = await ed.published(uri, lambda found: bool(found) and found[0]["range"]["start"]["line"] == LINE + 2)
    assert [found["range"]["start"]["line"] for found in moved] == [LINE + 2, LINE + 3]
    assert moved[0]["relatedInformation"][0]["location"]["range"]["start"]["line"] == 2
    await ed.insert(uri, 3, LINE + 2, "y", character=4)
    (left,) = await ed.published(uri, lambda found: len(found) == 1)
    assert (left["code"], left["range"]["start"]["line"]) == ("GB0003", LINE + 3)
    assert pushes(ed)[-1]["version"] == 3


async def test_saving_runs_again(ed: Editor, root: Path) -> None:
    file = write(root, ONE)
    uri = await ed.open(file)
    await ed.published(uri)
    await ed.insert(uri, 2, LINE, "    abs(x)  # finding GB0007\n")
    write(root, ONE.replace("    print", "    abs(x)  # finding GB0007\n    print"))
    since = ed.mark()
    await ed.save(uri)
    found = await ed.published(uri, lambda found: len(found) == 2, since)
    assert [entry["code"] for entry in found] == ["GB0007", "GB0001"]
    assert [line.split()[2] for line in runs(root)] == ["unsaved=False", "unsaved=False"]


async def test_unsaved_text_is_what_runs(ed: Editor, root: Path) -> None:
    file = write(root, HEAD + "    return x\n")
    found = await ed.published(await ed.open(file, text=ONE))
    assert [entry["range"] for entry in found] == [RANGE]
    assert "unsaved=True" in runs(root)[0]


async def test_edits_during_a_run_move_what_it_finds(ed: Editor, root: Path) -> None:
    """The run reads the text as it was when it was asked for; what it finds is shown in the text as it is now."""
    file = write(root, HEAD + "    print(x)  # finding GB0001\n    abs(x)  # finding GB0003\n# wait\n")
    uri = await ed.open(file)
    await ed.status(state="analyzing")
    await ed.insert(uri, 2, 0, "\n\n")
    await ed.insert(uri, 3, LINE + 3, "y", character=4)
    await ed.hover(uri, 0, 0)
    file.with_suffix(".go").touch()
    (found,) = await ed.published(uri)
    assert (found["code"], found["range"]["start"]["line"]) == ("GB0001", LINE + 2)


async def test_a_partial_outcome_is_shown_while_the_file_runs(ed: Editor, root: Path) -> None:
    text = HEAD + "    print(x)  # finding GB0001\n    abs(x)  # finding GB0003\n# partial\n# hang\n"
    found = await ed.published(await ed.open(write(root, text)))
    assert [entry["code"] for entry in found] == ["GB0001"]
    assert not [m for m in ed.received if (m.get("params") or {}).get("value", {}).get("kind") == "end"]


async def test_closing_takes_back_what_was_found(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.published(uri)
    since = ed.mark()
    await ed.close(uri)
    await ed.published(uri, lambda found: not found, since)


async def test_a_file_whose_region_is_gone_has_no_findings(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.published(uri)
    await ed.change(uri, 2, {"text": "import torch\n\n\n\ndef f(x):\n    print(x)  # finding GB0001\n    return x\n"})
    since = ed.mark()
    await ed.save(uri)
    await ed.published(uri, lambda found: not found, since)


async def test_a_finding_in_another_file_is_shown_there(ed: Editor, root: Path) -> None:
    other = write(root, "def g(x):\n    print(x)\n", "model.py")
    uri = await ed.open(write(root, ONE + "# in model.py 2\n"))
    (found,) = await ed.published(other.as_uri())
    assert (found["code"], found["range"]["start"]) == ("GB0099", {"line": 1, "character": 4})
    assert [entry["code"] for entry in await ed.published(uri)] == ["GB0001"]
    await ed.open(other)
    await ed.insert(other.as_uri(), 2, 0, "\n")
    await ed.published(other.as_uri(), lambda found: bool(found) and found[0]["range"]["start"]["line"] == 2)
    since = ed.mark()
    await ed.close(uri)
    await ed.published(other.as_uri(), lambda found: not found, since)


async def test_an_editor_that_can_pull_pulls(raw: Editor, root: Path) -> None:
    offered = await puller(raw, root)
    assert offered["diagnosticProvider"] == {
        "identifier": "compile-lens",
        "interFileDependencies": True,
        "workspaceDiagnostics": False,
    }
    since = raw.mark()
    uri = await raw.open(write(root, ONE))
    await refreshed(raw, since)
    report = await raw.pull(uri)
    assert (report["kind"], [item["range"] for item in report["items"]]) == ("full", [RANGE])
    again = await raw.pull(uri, report["resultId"])
    assert again == {"kind": "unchanged", "resultId": report["resultId"]}
    await raw.insert(uri, 2, 0, "\n")
    moved = await raw.pull(uri, report["resultId"])
    assert moved["items"][0]["range"]["start"]["line"] == LINE + 1
    assert moved["resultId"] != report["resultId"]
    assert pushes(raw) == []


async def test_typing_asks_for_no_refresh_and_a_run_for_one(raw: Editor, root: Path) -> None:
    await puller(raw, root)
    uri = await raw.open(write(root, ONE))
    await refreshed(raw, 0)
    since = raw.mark()
    for version in range(2, 12):
        await raw.insert(uri, version, 0, "\n")
        await raw.pull(uri)
    assert refreshes(raw, since) == 0
    await raw.change(uri, 20, {"text": HEAD + "    abs(x)  # finding GB0003\n"})
    await raw.save(uri)
    await refreshed(raw, since)
    assert refreshes(raw, since) == 1


async def test_refreshes_do_not_pile_up_behind_a_slow_editor(raw: Editor, root: Path) -> None:
    del raw.answers["workspace/diagnostic/refresh"]
    await puller(raw, root)
    first = write(root, ONE)
    uri = await raw.open(first)
    asked = await raw.wait(lambda message: message.get("method") == "workspace/diagnostic/refresh")
    since = raw.mark()
    for version, code in enumerate(["GB0003", "GB0004", "GB0005"], 2):
        await raw.change(uri, version, {"text": HEAD + f"    abs(x)  # finding {code}\n"})
        await raw.command("compileLens.analyze", uri)
        assert [item["code"] for item in (await raw.pull(uri))["items"]] == [code]
    assert refreshes(raw, since) == 0
    raw.answers["workspace/diagnostic/refresh"] = lambda _: None
    await raw.send({"id": asked["id"], "result": None})
    await refreshed(raw, since)


async def test_for_one_that_pulls_a_file_that_is_not_open_is_pushed_until_it_is_opened(raw: Editor, root: Path) -> None:
    await puller(raw, root)
    other = write(root, "def g(x):\n    print(x)\n", "model.py")
    await raw.open(write(root, ONE + "# in model.py 2\n"))
    await raw.published(other.as_uri())
    assert (await raw.pull(other.as_uri()))["items"] == []
    since = raw.mark()
    await raw.open(other)
    await raw.published(other.as_uri(), lambda found: not found, since)
    assert [item["code"] for item in (await raw.pull(other.as_uri()))["items"]] == ["GB0099"]
    since = raw.mark()
    await raw.close(other.as_uri())
    await raw.published(other.as_uri(), bool, since)
    assert {push["uri"] for push in pushes(raw)} == {other.as_uri()}


async def test_an_editor_that_cannot_be_told_to_pull_again_is_pushed_to(raw: Editor, root: Path) -> None:
    said = capabilities(pull=True)
    said["workspace"]["diagnostics"] = {}
    offered = (await raw.initialize(root, ALWAYS, capabilities=said))["capabilities"]
    assert "diagnosticProvider" not in offered
    await raw.published(await raw.open(write(root, ONE)))


async def test_pulling_a_document_that_nobody_opened_is_answered(raw: Editor, root: Path) -> None:
    await puller(raw, root)
    for uri in ("file:///nowhere.py", "untitled:1"):
        assert (await raw.pull(uri))["items"] == []
