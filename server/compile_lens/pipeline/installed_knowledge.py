"""What is known of the torch of an interpreter, without starting it."""

from __future__ import annotations

from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.tables import bundled_tables, open_tables
from compile_lens.workers.extraction import cached_tables, find_torch


def knowledge_of(python: str) -> Knowledge:
    """Knowledge of the interpreter's torch if its tables are cached, otherwise of the bundled ones."""
    torch = find_torch(python)
    if torch is None:
        return Knowledge()
    cached = cached_tables(torch)
    return Knowledge(
        open_tables(cached) if cached is not None else bundled_tables(torch.version, str(torch.folder.parent))
    )
