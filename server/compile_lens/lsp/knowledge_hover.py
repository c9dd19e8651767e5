"""Hovers on names of torch: flags, options, arguments, codes, operators, IR."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.documents.documents import Snapshot
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.render import to_markdown
from compile_lens.knowledge.run_values import with_run_value
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.knowledge_at import compile_method_at, named_at
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.pipeline.results import Results
from compile_lens.syntax.callees import ENTRY_POINTS
from compile_lens.syntax.contexts import MentionKind
from compile_lens.syntax.regions import Region, RegionKind
from compile_lens.syntax.tree import Range


@dataclass(frozen=True, slots=True)
class KnownHover:
    """A text and the range that it explains. ``compiles``: the range is a call that compiles, such as ``torch.compile``."""

    markdown: str
    range: Range
    compiles: bool


class KnowledgeHovers:
    """Answers from the tables, and with the options' values of the document's last run."""

    def __init__(self, store: KnowledgeStore, results: Results, facts: DocumentFactsOf) -> None:
        self._store = store
        self._results = results
        self._facts = facts

    def of_code(self, code: str, path: str) -> str:
        """What a document's torch says about the break ``code``, '' if it does not know the code."""
        knowledge = self._store.of(path)
        entry = knowledge.get(KnowledgeKind.CODE, code)
        return "" if entry is None else to_markdown(entry, knowledge.tables)

    def at(self, snapshot: Snapshot, point: tuple[int, int], region: Region | None = None) -> KnownHover | None:
        """The explanation of a place, if any. ``region`` is the compile region around it."""
        knowledge = self._store.of(snapshot.path)
        named = named_at(snapshot, knowledge, self._facts.of(snapshot).imports, *point)
        if named is None and region is not None and region.kind is RegionKind.METHOD:
            named = compile_method_at(snapshot, knowledge, *point)
        if named is None:
            return None
        outcome = self._results.outcome(snapshot.uri)
        entries = named.entries
        if outcome is not None:
            entries = tuple(with_run_value(entry, knowledge, outcome.options) for entry in entries)
        text = "\n\n---\n\n".join(to_markdown(entry, knowledge.tables) for entry in entries)
        if named.sort is MentionKind.METHOD:
            text = f"On a tensor:\n\n{text}"
        return KnownHover(text, named.range, named.entries[0].name in ENTRY_POINTS)
