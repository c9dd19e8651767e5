"""What a client may do to the server that pygls alone would not survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from editor import Editor, RequestError, capabilities
from programs import HANGS, HEAD, LINE, ONE, write

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, NOT_INITIALIZED, CANCELLED = -32602, -32002, -32800


async def test_unknown_enum_values_do_not_stop_the_server_from_starting(raw: Editor, root: Path) -> None:
    said = capabilities()
    said["textDocument"]["publishDiagnostics"]["tagSupport"] = {"valueSet": [1, 2, 99]}
    said["textDocument"]["completion"] = {"completionItemKind": {"valueSet": [1, 4711]}}
    said["textDocument"]["hover"]["contentFormat"] = ["asciidoc", "markdown"]
    said["workspace"]["symbol"] = {"symbolKind": {"valueSet": [1, 900]}, "tagSupport": {"valueSet": [77]}}
    said["workspace"]["workspaceEdit"] = {"failureHandling": "hope", "resourceOperations": ["create", "teleport"]}
    said["general"] = {"positionEncodings": ["utf-7", "utf-32"]}
    result = await raw.initialize(root, capabilities=said, trace="everything")
    assert result["capabilities"]["positionEncoding"] == "utf-32"
    assert result["serverInfo"]["name"] == "compile-lens"


async def test_the_server_offers_what_it_can_do(raw: Editor, root: Path) -> None:
    offered = (await raw.initialize(root))["capabilities"]
    assert set(offered["executeCommandProvider"]["commands"]) == {
        "compileLens.analyze",
        "compileLens.allowNetwork",
        "compileLens.analyzeWithoutSandbox",
        "compileLens.keepWrites",
        "compileLens.compare",
        "compileLens.compareStages",
        "compileLens.vary",
        "compileLens.analyzeCell",
        "compileLens.cancel",
        "compileLens.allowWorkspace",
        "compileLens.useGpu",
        "compileLens.leaveGpu",
        "compileLens.revokeWorkspace",
        "compileLens.allowedWorkspaces",
        "compileLens.doctor",
        "compileLens.entries",
        "compileLens.chooseEntry",
        "compileLens.explainRuns",
        "compileLens.analyzeAsIfCompiled",
        "compileLens.bisect",
        "compileLens.bisectFinding",
        "compileLens.closeTraces",
        "compileLens.minifyFinding",
        "compileLens.openTrace",
        "compileLens.followTraces",
        "compileLens.runAndFollow",
        "compileLens.stopFollowingTraces",
        "compileLens.writeIssue",
        "compileLens.writeUnitTest",
        "compileLens.verifyBisection",
        "compileLens.minify",
        "compileLens.logs",
        "compileLens.writeRepro",
        "compileLens.applyFix",
        "compileLens.assistantTool",
        "compileLens.fixAll",
        "compileLens.keepOneGraph",
        "compileLens.fixChoices",
        "compileLens.fixTaken",
        "compileLens.forgetFixChoices",
        "compileLens.showDetails",
        "compileLens.openStages",
        "compileLens.showStage",
        "compileLens.stageSource",
        "compileLens.stages",
        "compileLens.stagesPage",
    }
    assert offered["hoverProvider"] is True
    assert offered["textDocumentSync"] == {"openClose": True, "change": 2, "save": True}
    assert "diagnosticProvider" not in offered
    assert "notebookDocumentSync" not in offered


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", {"textDocument": 3}),
        ("textDocument/hover", None),
        ("workspace/executeCommand", {"arguments": []}),
        ("workspace/executeCommand", {"command": "compileLens.nothing"}),
        ("workspace/executeCommand", {"command": "compileLens.analyze"}),
        ("workspace/executeCommand", {"command": "compileLens.analyze", "arguments": [{"uri": 1}]}),
        ("workspace/executeCommand", {"command": "compileLens.analyze", "arguments": ["untitled:Untitled-1"]}),
    ],
)
async def test_a_malformed_request_is_answered(ed: Editor, method: str, params: Any) -> None:
    with pytest.raises(RequestError) as caught:
        await ed.request(method, params)
    assert caught.value.code == INVALID_PARAMS
    assert "data" not in caught.value.error
    await alive(ed)


async def alive(ed: Editor) -> None:
    """The server answers, and has not bothered the user."""
    assert await ed.hover("file:///nowhere.py", 0, 0) is None
    assert not [message for message in ed.received if message.get("method") == "window/showMessage"]


async def test_a_request_that_nobody_handles_is_answered(ed: Editor) -> None:
    with pytest.raises(RequestError) as caught:
        await ed.request("textDocument/prepareRename", {})
    assert caught.value.code in (METHOD_NOT_FOUND, INVALID_PARAMS)
    with pytest.raises(RequestError) as caught:
        await ed.request("compileLens/unheardOf", {"x": 1})
    assert caught.value.code == METHOD_NOT_FOUND
    await alive(ed)


async def test_what_is_no_message_is_refused_and_the_connection_goes_on(ed: Editor) -> None:
    for body, code in [
        (b"{nonsense", PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"17", INVALID_REQUEST),
        (b'{"id": 5, "method": "textDocument/hover"}', INVALID_REQUEST),
    ]:
        since = ed.mark()
        await ed.send_bytes(body)
        answer = await ed.wait(lambda message: "error" in message, since)
        assert answer["error"]["code"] == code, body
    await alive(ed)


async def test_notifications_that_mean_nothing_are_passed_over(ed: Editor) -> None:
    await ed.notify("$/unheardOf", {"a": [1, {"type_name": "x"}]})
    await ed.notify("textDocument/didOpen", {"textDocument": {"uri": 7}})
    await ed.notify(
        "textDocument/didChange", {"textDocument": {"uri": "file:///x.py", "version": 2}, "contentChanges": []}
    )
    await ed.notify("textDocument/didClose", {"textDocument": {"uri": "file:///x.py"}})
    await ed.notify("textDocument/didSave", {"textDocument": {"uri": "file:///x.py"}})
    await ed.notify("$/cancelRequest", {"id": 9999})
    await ed.notify("window/workDoneProgress/cancel", {"token": "nobody's"})
    await ed.notify("workspace/didChangeConfiguration", {"settings": None})
    await ed.notify("compileLens/trust", {"trusted": True})
    await ed.send({"id": "nobody asked", "result": 3})
    await alive(ed)


async def test_an_answer_under_the_id_of_a_request_of_the_editors_own(ed: Editor, root: Path) -> None:
    """pygls keeps both under one set of ids."""
    identifier = await ed.begin(
        "workspace/executeCommand", {"command": "compileLens.analyze", "arguments": [write(root, HANGS).as_uri()]}
    )
    await ed.status(state="analyzing")
    await ed.send({"id": identifier, "result": 3})
    await ed.send({"id": identifier, "error": {"code": "none"}})
    await alive(ed)


async def test_headers_in_any_spelling(ed: Editor) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 900, "method": "textDocument/hover", "params": {}}).encode()
    assert ed.process.stdin is not None
    head = b"content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:%d\r\nX-Other: 1\r\n\r\n"
    ed.process.stdin.write(head % len(body) + body)
    with pytest.raises(RequestError):
        await ed.answer(900)
    await alive(ed)


async def test_requests_before_initialize_and_after_shutdown_are_refused(raw: Editor, root: Path) -> None:
    with pytest.raises(RequestError) as caught:
        await raw.hover("file:///a.py", 0, 0)
    assert caught.value.code == NOT_INITIALIZED
    await raw.notify("textDocument/didSave", {"textDocument": {"uri": "file:///x.py"}})
    await raw.initialize(root)
    with pytest.raises(RequestError) as caught:
        await raw.initialize(root)
    assert caught.value.code == INVALID_REQUEST
    await raw.request("shutdown")
    with pytest.raises(RequestError) as caught:
        await raw.hover("file:///a.py", 0, 0)
    assert caught.value.code == INVALID_REQUEST


async def test_a_form_feed_does_not_end_a_line(ed: Editor, root: Path) -> None:
    """pygls' own text breaks here: an edit below a form feed would land one line off."""
    file = write(root, "# page one\f page\x85two\u2028three\n" + ONE)
    uri = await ed.open(file)
    await ed.published(uri, lambda found: bool(found) and found[0]["range"]["start"]["line"] == LINE + 1)
    await ed.insert(uri, 2, LINE + 1, "\n")
    (moved,) = await ed.published(uri, lambda found: bool(found) and found[0]["range"]["start"]["line"] == LINE + 2)
    assert moved["range"]["end"] == {"line": LINE + 2, "character": 12}


@pytest.mark.parametrize(("encoding", "end"), [("utf-8", 24), ("utf-16", 22), ("utf-32", 21), (None, 22)])
async def test_columns_are_in_the_encoding_of_the_client(
    raw: Editor, root: Path, encoding: str | None, end: int
) -> None:
    said = capabilities()
    if encoding is not None:
        said["general"] = {"positionEncodings": [encoding]}
    await raw.initialize(root, {"run": {"enabled": "always"}}, capabilities=said)
    uri = await raw.open(write(root, HEAD + "    s = '😀'; print(x)  # finding GB0001\n"))
    (found,) = await raw.published(uri)
    assert found["range"]["end"]["character"] == end
    hover = await raw.hover(uri, 5, end - 1)
    assert hover is not None and hover["range"] == found["range"]
    assert await raw.hover(uri, 5, end) is None


async def test_uris_with_strange_characters(ed: Editor, root: Path) -> None:
    folder = root / "a b#c;d%20é"
    folder.mkdir()
    file = write(folder, ONE, "träin (1).py")
    assert [found["code"] for found in await ed.published(await ed.open(file))] == ["GB0001"]


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/a.py?ref", "vscode-notebook-cell:/a.ipynb#1", "file://["])
async def test_documents_that_are_no_files_are_left_alone(ed: Editor, uri: str) -> None:
    document = {"uri": uri, "languageId": "python", "version": 1, "text": ONE}
    await ed.notify("textDocument/didOpen", {"textDocument": document})
    assert await ed.hover(uri, 3, 2) is None
    await ed.insert(uri, 2, 0, "x")
    await ed.save(uri)
    await ed.close(uri)
    await alive(ed)
