"""All that the editor is told about names of torch's, put together."""

from __future__ import annotations

from compile_lens.documents.documents import file_key
from compile_lens.lsp import definition, knowledge_fixes, links, signature
from compile_lens.lsp.completion import Completions
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.knowledge_diagnostics import KnowledgeDiagnostics
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.permissions import Permissions


def register(server: CompileLensServer, permissions: Permissions, diagnostics: Diagnostics) -> KnowledgeStore:
    """Offer every feature but hovers, which are shared with findings and regions: they need the store, which is returned."""

    def show_again() -> None:
        paths = [snapshot.path for snapshot in server.documents.all() if snapshot.path is not None]
        diagnostics.show({file_key(path) for path in paths})

    store = KnowledgeStore(server, permissions.of, show_again)
    found = KnowledgeDiagnostics(server, store)
    diagnostics.without_run.append(found.of)
    Completions(server, store)
    definition.register(server, store)
    links.register(server, store)
    signature.register(server, store)
    knowledge_fixes.register(server, found)
    return store
