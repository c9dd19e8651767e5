"""Messages as an editor sends them, for those who change them."""

from __future__ import annotations

from typing import Any

from tests.lsp.programs import ONE

Message = dict[str, Any]


def ordinary(uri: str) -> list[Message]:
    """Messages as an editor sends them."""
    document = {"uri": uri}
    point = {"line": 3, "character": 3}
    edit = {"range": {"start": {"line": 2, "character": 1}, "end": point}, "text": "ab\n😀c\f"}
    run = {"command": "compileLens.analyze", "arguments": [uri]}
    opened = {**document, "languageId": "python", "version": 1, "text": ONE}
    requests: list[tuple[str, Any]] = [
        ("textDocument/hover", {"textDocument": document, "position": point}),
        ("textDocument/diagnostic", {"textDocument": document, "previousResultId": "3"}),
        ("workspace/executeCommand", run),
        ("workspace/executeCommand", {**run, "command": "compileLens.cancel"}),
    ]
    notifications: list[tuple[str, Any]] = [
        ("textDocument/didOpen", {"textDocument": opened}),
        ("textDocument/didChange", {"textDocument": {**document, "version": 5}, "contentChanges": [edit]}),
        ("textDocument/didSave", {"textDocument": document}),
        ("textDocument/didClose", {"textDocument": document}),
        ("workspace/didChangeConfiguration", {"settings": {"compileLens": {"run": {"timeout": 3}}}}),
        ("compileLens/trust", {"trusted": True}),
        ("$/cancelRequest", {"id": 1002}),
        ("window/workDoneProgress/cancel", {"token": "compile-lens-1"}),
        ("$/setTrace", {"value": "off"}),
    ]
    numbered = [{"id": 1000 + n, "method": name, "params": params} for n, (name, params) in enumerate(requests)]
    return [*numbered, *({"method": name, "params": params} for name, params in notifications)]
