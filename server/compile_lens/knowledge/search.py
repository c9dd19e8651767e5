"""Searches names and texts of explanations for words."""

from __future__ import annotations

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge


def search(knowledge: Knowledge, words: str, most: int = 40) -> list[KnowledgeEntry]:
    """Entries that contain every word: those with a word in the name first, shorter names before longer ones."""
    wanted = words.lower().split()
    found: list[tuple[tuple[int, int, str], KnowledgeEntry]] = []
    for kind in KnowledgeKind:
        for name in knowledge.names(kind):
            lowered = name.lower()
            in_name = sum(word in lowered for word in wanted)
            # operators and functions are found by name only, because their texts would hide everything else
            if in_name < len(wanted) and kind in (KnowledgeKind.OPERATOR, KnowledgeKind.FUNCTION):
                continue
            entry = knowledge.get(kind, name)
            if entry is None:
                continue
            text = f"{lowered}\n{entry.ours}\n{entry.theirs}".lower()
            if all(word in text for word in wanted):
                found.append(((-in_name, len(name), name), entry))
    found.sort(key=lambda pair: pair[0])
    return [entry for _, entry in found[:most]]
