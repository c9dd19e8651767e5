"""Makes what the answers of commands show safe: an editor puts it into lists, titles and buttons as it is."""

from __future__ import annotations

from typing import Any

from compile_lens.shown_text import visible

# what is only shown; names of files, stages and entries come back to the server, and stay as they are
SHOWN = frozenset({"detail", "function", "notes", "origin", "sentence", "shows", "summary", "title", "what"})


def shown_answer(value: Any, is_shown: bool = False) -> Any:
    """``value`` with every control character of such texts written out."""
    if isinstance(value, dict):
        return {key: shown_answer(inner, key in SHOWN) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown_answer(inner, is_shown) for inner in value]
    return visible(value) if is_shown and isinstance(value, str) else value
