"""Hovers on what torch calls things: flags, options, arguments, codes, operators, IR."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.knowledge.render import to_markdown
from compile_lens.lsp.knowledge_at import named_at
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.session.documents import Snapshot
from compile_lens.syntax.contexts import COMPILE, Sort
from compile_lens.syntax.tree import Range


@dataclass(frozen=True, slots=True)
class KnownHover:
    """A text and the range that it is about. ``is_compile``: it is about ``torch.compile`` itself."""

    markdown: str
    range: Range
    is_compile: bool


class KnowledgeHovers:
    """Answers from the tables alone."""

    def __init__(self, store: KnowledgeStore) -> None:
        self._store = store

    def at(self, snapshot: Snapshot, point: tuple[int, int]) -> KnownHover | None:
        """What is known of a place, or None."""
        knowledge = self._store.of(snapshot.path)
        named = named_at(snapshot, knowledge, *point)
        if named is None:
            return None
        text = "\n\n---\n\n".join(to_markdown(entry, knowledge.tables) for entry in named.entries)
        if named.sort is Sort.METHOD:
            text = f"If this is called on a tensor:\n\n{text}"
        return KnownHover(text, named.range, named.entries[0].name in COMPILE)
