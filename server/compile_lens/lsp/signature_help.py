"""Signature help for ``torch.compile``."""

from __future__ import annotations

import re

from lsprotocol import types

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.lsp.convert import from_position
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.editor_capabilities import EditorCapabilities
from compile_lens.lsp.knowledge_at import is_python
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.syntax.contexts import COMPILE
from compile_lens.syntax.slots import LINES_BACK, open_call


def register(server: CompileLensServer, store: KnowledgeStore, facts: DocumentFactsOf) -> None:
    """Register the handler."""

    def answer(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        snapshot = server.documents.get(params.text_document.uri)
        if snapshot is None or not is_python(snapshot):
            return None
        line, column = snapshot.index.point(from_position(params.position), server.editor.encoding)
        above = [snapshot.index.line(number) for number in range(max(0, line - 1 - LINES_BACK), line - 1)]
        call = open_call([*above, snapshot.index.line(line - 1)[: column - 1]], facts.of(snapshot).imports)
        if call is None or call[0] not in COMPILE:
            return None
        return _help(store.of(snapshot.path), call[1], server.editor)

    server.on(types.TEXT_DOCUMENT_SIGNATURE_HELP, answer)


def _help(knowledge: Knowledge, written: str, editor: EditorCapabilities) -> types.SignatureHelp:
    table = knowledge.tables.table(KnowledgeKind.ARGUMENT)
    labels, parameters = [], []
    for name, row in table.items():
        label = f"{name}: {row.get('type', 'Any')}" + (f" = {row['default']}" if "default" in row else "")
        entry = knowledge.get(KnowledgeKind.ARGUMENT, name)
        text = to_markdown(entry, knowledge.tables, heading=False) if entry is not None else ""
        labels.append(label)
        parameters.append(types.ParameterInformation(label, editor.markup(text)))
    signature = types.SignatureInformation(f"torch.compile({', '.join(labels)})", parameters=parameters)
    return types.SignatureHelp([signature], 0, _active(written, list(table)))


def _active(written: str, names: list[str]) -> int:
    """The index of the argument at the cursor, from the last keyword or the number of commas outside of brackets."""
    depth, commas, start = 0, 0, 1
    for at, character in enumerate(written):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 1:
            commas, start = commas + 1, at + 1
    keyword = re.match(r"\s*(\w+)\s*=", written[start:])
    if keyword is not None and keyword.group(1) in names:
        return names.index(keyword.group(1))
    # all arguments but the first are keyword-only
    return 0 if commas == 0 else len(names)
