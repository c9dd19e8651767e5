"""Severities, the cap, and the comment that ignores a finding, as an editor meets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from editor import Editor, capabilities
from programs import ALWAYS, HEAD, LINE, ONE, RANGE, runs, write

TWO = HEAD + "    print(x)  # finding GB0001\n    print(x)  # finding GB0002\n    return x\n"


async def actions(ed: Editor, uri: str, at: dict[str, Any], only: list[str] | None = None) -> list[Any]:
    context: dict[str, Any] = {"diagnostics": [], "only": only or ["quickfix"]}
    params = {"textDocument": {"uri": uri}, "range": at, "context": context}
    found: list[Any] = await ed.request("textDocument/codeAction", params)
    return found


async def test_severities_are_the_users_and_off_hides(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {**ALWAYS, "severity": {"GB0001": "error", "graph-break": "off"}})
    uri = await raw.open(write(root, TWO))
    assert [(f["code"], f["severity"]) for f in await raw.published(uri)] == [("GB0001", 1)]


async def test_a_change_of_severities_is_followed(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.published(uri)
    since = ed.mark()
    settings = {"compileLens": {**ALWAYS, "severity": {"GB0001": "hint"}}}
    await ed.notify("workspace/didChangeConfiguration", {"settings": settings})
    await ed.published(uri, lambda found: [f["severity"] for f in found] == [4], since)
    assert len(runs(root)) == 1


async def test_a_bad_severity_is_told(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {**ALWAYS, "severity": {"GB0001": "loud"}})
    shown = await raw.wait(lambda message: message.get("method") == "window/showMessage")
    assert 'compileLens.severity must be an object with values of "error"' in shown["params"]["message"]


async def test_the_cap_says_how_many_are_hidden(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {**ALWAYS, "maxFindings": 1})
    uri = await raw.open(write(root, TWO))
    assert [f["code"] for f in await raw.published(uri)] == ["GB0001"]
    await raw.status(state="idle", message="1 finding (1 more hidden)")


async def test_ignore_here_adds_a_comment_that_the_next_run_obeys(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.published(uri)
    action = (await actions(ed, uri, RANGE))[-1]
    assert (action["title"], action["kind"]) == ("Ignore this graph break (GB0001)", "quickfix")
    (edit,) = action["edit"]["changes"][uri]
    assert edit["newText"] == "  # compile-lens: ignore[GB0001]"
    await ed.change(uri, 2, {"range": edit["range"], "text": edit["newText"]})
    since = ed.mark()
    await ed.save(uri)
    await ed.status(since, state="idle", findings=0)


async def test_actions_are_for_the_findings_in_the_range_and_of_the_kind_that_is_wanted(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.published(uri)
    top = {"line": 0, "character": 0}
    assert await actions(ed, uri, {"start": top, "end": top}) == []
    assert await actions(ed, uri, RANGE, ["source.organizeImports"]) == []
    cursor = {"line": LINE, "character": 7}
    assert await actions(ed, uri, {"start": cursor, "end": cursor}, ["quickfix"])


async def test_an_edit_names_the_version_where_the_editor_can_check_it(raw: Editor, root: Path) -> None:
    said = capabilities(workspace={"workspaceEdit": {"documentChanges": True}})
    await raw.initialize(root, ALWAYS, capabilities=said)
    uri = await raw.open(write(root, ONE), version=7)
    await raw.published(uri)
    (change,) = (await actions(raw, uri, RANGE))[-1]["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": 7}
