"""Completion of logs, environment variables and their values, options, arguments, modes and backends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.lsp.convert import from_position
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.knowledge_at import is_python
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.syntax.imports import Imports
from compile_lens.syntax.slots import LINES_BACK, Slot, SlotKind, python_slot, text_slot

# what people set TORCH_LOGS to, the most frequent first
USED_LOGS = (
    "graph_breaks", "recompiles", "dynamo", "output_code", "guards", "inductor", "aot_graphs", "graph_code", "dynamic", "perf_hints",
    "fusion", "schedule", "aot", "cudagraphs", "post_grad_graphs", "recompiles_verbose", "bytecode", "graph", "trace_source", "kernel_code",
)  # fmt: skip
_KINDS = {
    SlotKind.LOG: KnowledgeKind.LOG,
    SlotKind.LOG_KEYWORD: KnowledgeKind.LOG,
    SlotKind.VARIABLE: KnowledgeKind.ENVIRONMENT,
    SlotKind.ARGUMENT: KnowledgeKind.ARGUMENT,
    SlotKind.MODE: KnowledgeKind.MODE,
    SlotKind.BACKEND: KnowledgeKind.BACKEND,
}
_ICONS = {
    KnowledgeKind.LOG: types.CompletionItemKind.EnumMember,
    KnowledgeKind.ENVIRONMENT: types.CompletionItemKind.Constant,
    KnowledgeKind.OPTION: types.CompletionItemKind.Property,
    KnowledgeKind.ARGUMENT: types.CompletionItemKind.Variable,
    KnowledgeKind.MODE: types.CompletionItemKind.EnumMember,
    KnowledgeKind.BACKEND: types.CompletionItemKind.EnumMember,
}


class Completions:
    """Answers from the tables and the text before the cursor."""

    def __init__(self, server: CompileLensServer, store: KnowledgeStore, facts: DocumentFactsOf) -> None:
        self._server = server
        self._store = store
        self._facts = facts
        server.on(types.TEXT_DOCUMENT_COMPLETION, self._complete)
        server.on(types.COMPLETION_ITEM_RESOLVE, self._resolve)

    def _complete(self, params: types.CompletionParams) -> types.CompletionList | None:
        snapshot = self._server.documents.get(params.text_document.uri)
        if snapshot is None:
            return None
        line, column = snapshot.index.point(from_position(params.position), self._server.editor.encoding)
        slot = slot_at(snapshot, self._facts.of(snapshot).imports, line, column)
        if slot is None:
            return None
        knowledge = self._store.of(snapshot.path)
        start = snapshot.index.position_of(line, column - len(slot.prefix), self._server.editor.encoding)
        place = types.Range(types.Position(start.line, start.character), params.position)
        items = list(items_for(knowledge, slot, place, snapshot.path))
        return types.CompletionList(is_incomplete=False, items=in_order(items, slot))

    def _resolve(self, item: types.CompletionItem) -> types.CompletionItem:
        data = item.data if isinstance(item.data, dict) else {}
        knowledge = self._store.of(data.get("path"))
        try:
            entry = knowledge.get(KnowledgeKind(data.get("kind", "")), data.get("name", ""))
        except ValueError:
            entry = None
        if entry is not None:
            item.documentation = self._server.editor.markup(to_markdown(entry, knowledge.tables))
        return item


def slot_at(snapshot: Snapshot, imports: Imports, line: int, column: int) -> Slot | None:
    """What can be completed at a place (line and column from 1)."""
    before = snapshot.index.line(line - 1)[: column - 1]
    if is_python(snapshot):
        above = [snapshot.index.line(number) for number in range(max(0, line - 1 - LINES_BACK), line - 1)]
        return python_slot(above, before, imports)
    return text_slot(before, snapshot.index.line(line - 2))


def items_for(knowledge: Knowledge, slot: Slot, place: types.Range, path: str | None) -> Iterator[types.CompletionItem]:
    """The items that fit a slot; each replaces the text at ``place``."""
    if slot.kind in (SlotKind.OPTION, SlotKind.OPTION_KEY):
        yield from _options(knowledge, slot, place, path)
    elif slot.kind is SlotKind.VALUE:
        yield from _values(knowledge, slot, place)
    else:
        kind = _KINDS[slot.kind]
        suffix = "=" if slot.kind in (SlotKind.ARGUMENT, SlotKind.LOG_KEYWORD) else ""
        for name in _matching(knowledge.names(kind), slot.prefix):
            yield _item(name, name + suffix, kind, name, place, path, _detail(knowledge, kind, name))


def in_order(items: list[types.CompletionItem], slot: Slot) -> list[types.CompletionItem]:
    """What begins with the prefix first; logs by how often they are asked for. An editor would order by the alphabet."""
    is_log = slot.kind in (SlotKind.LOG, SlotKind.LOG_KEYWORD)
    used = {name: number for number, name in enumerate(USED_LOGS)} if is_log else {}

    def rank(entry: tuple[int, types.CompletionItem]) -> tuple[bool, int, int]:
        number, item = entry
        others = len(USED_LOGS) + (item.label == "all")
        return not item.label.lower().startswith(slot.prefix.lower()), used.get(item.label, others), number

    ordered = [item for _, item in sorted(enumerate(items), key=rank)]
    for number, item in enumerate(ordered):
        item.sort_text = f"{number:04}"
    return ordered


def _options(knowledge: Knowledge, slot: Slot, place: types.Range, path: str | None) -> Iterator[types.CompletionItem]:
    """Keys have dots (``triton.cudagraphs``); attributes are completed one component at a time."""
    start = f"{slot.owner}."
    for full in knowledge.names(KnowledgeKind.OPTION):
        if not full.startswith(start):
            continue
        name = full.removeprefix(start)
        section = knowledge.tables.table(KnowledgeKind.OPTION)[full].get("what") == "section"
        if (section if slot.kind is SlotKind.OPTION_KEY else "." in name) or name.startswith("_"):
            continue
        if slot.prefix.lower() in name.lower():
            yield _item(
                name, name, KnowledgeKind.OPTION, full, place, path, _detail(knowledge, KnowledgeKind.OPTION, full)
            )


def _values(knowledge: Knowledge, slot: Slot, place: types.Range) -> Iterator[types.CompletionItem]:
    """Values of a variable, where the options that it sets declare them."""
    row = knowledge.get(KnowledgeKind.ENVIRONMENT, slot.owner)
    options = [
        knowledge.tables.table(KnowledgeKind.OPTION).get(name, {}) for name in (row.related if row is not None else ())
    ]
    values: list[str] = []
    for option in options:
        declared = option.get("type", "")
        if declared == "bool":
            values += ["0", "1"]
        elif "Literal[" in declared:
            values += re.findall(r"['\"]([^'\"]+)['\"]", declared)
    for value in dict.fromkeys(values):
        if value.startswith(slot.prefix):
            edit = types.TextEdit(place, value)
            yield types.CompletionItem(value, kind=types.CompletionItemKind.Value, text_edit=edit, filter_text=value)


def _matching(names: Iterable[str], prefix: str) -> Iterator[str]:
    wanted = prefix.lower()
    return (name for name in names if wanted in name.lower())


def _detail(knowledge: Knowledge, kind: KnowledgeKind, name: str) -> str:
    row = knowledge.tables.table(kind).get(name, {})
    if kind is KnowledgeKind.OPTION:
        return f"{row.get('type', '')} = {row.get('default', '…')}".strip()
    if kind is KnowledgeKind.LOG:
        return str(row.get("what", ""))
    return ""


def _item(
    label: str, text: str, kind: KnowledgeKind, name: str, place: types.Range, path: str | None, detail: str
) -> types.CompletionItem:
    return types.CompletionItem(
        label=label,
        kind=_ICONS[kind],
        detail=detail or None,
        filter_text=label,
        text_edit=types.TextEdit(place, text),
        data={"kind": kind.value, "name": name, "path": path},
    )
