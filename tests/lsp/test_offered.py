"""What is offered before the features are loaded is what they do."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from stub_server import StubHost, analyze

from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.serving import create_server
from compile_lens.state.consent import ConsentStore

# what the features import, and a server that only answers `initialize` does without
LOADED_LATER = (
    "compile_lens.analysis",
    "compile_lens.knowledge",
    "compile_lens.pipeline",
    "compile_lens.repro",
    "tree_sitter",
)


def capabilities(pulls: bool) -> types.ClientCapabilities:
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            diagnostic=types.DiagnosticClientCapabilities() if pulls else None
        ),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )


def offers(server: CompileLensServer, client: types.ClientCapabilities) -> object:
    """What pygls would answer now."""
    manager = server.protocol.fm
    builder = ServerCapabilitiesBuilder(
        client,
        {*manager.features, *manager.builtin_features},
        manager.feature_options,
        sorted(manager.commands),
        types.TextDocumentSyncKind.Incremental,
    )
    return server.protocol._converter.unstructure(builder.build())


@pytest.mark.parametrize("pulls", [False, True])
async def test_the_features_handle_what_was_offered(pulls: bool, tmp_path: Path) -> None:
    """A new feature or command goes into lsp/offered.py, too."""
    server = create_server(StubHost, analyze, ConsentStore(tmp_path))
    client = capabilities(pulls)
    server.protocol.set_writer(Discarded())
    parameters = types.InitializeParams(capabilities=client)
    server.protocol.handle_message(types.InitializeRequest(id=1, params=parameters))
    offered = offers(server, client)
    methods, commands = set(server.protocol.fm.features), set(server.protocol.fm.commands)
    await asyncio.sleep(0)
    assert "compile_lens.lsp.server" in sys.modules
    assert offers(server, client) == offered
    assert methods <= set(server.protocol.fm.features)
    assert commands == set(server.protocol.fm.commands)
    await server.close()


class Discarded:
    """Where a server may write."""

    def write(self, data: bytes) -> None:
        """Nothing is done with ``data``."""

    def close(self) -> None:
        """There is nothing to close."""


def test_little_is_imported_before_initialize_is_answered() -> None:
    program = "import sys, compile_lens.lsp.serving as serve; serve.create_server(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    early = [name for name in done.stdout.split() if name.startswith(LOADED_LATER)]
    assert early == []
