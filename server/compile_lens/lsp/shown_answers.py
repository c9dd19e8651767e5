"""Makes what the answers of commands show safe: an editor puts it into lists, titles and buttons as it is."""

from __future__ import annotations

from typing import Any

from compile_lens.shown_text import visible, visible_name

# what is only shown, of these in several lines; names of files, stages and entries come back to the server, and stay as they are
LINES = frozenset({"detail", "shows"})
SHOWN = LINES | {"function", "notes", "origin", "sentence", "summary", "title", "what"}


def shown_answer(value: Any, of: str = "") -> Any:
    """``value``, which is ``of`` this name, with every control character of such texts written out."""
    if isinstance(value, dict):
        return {key: shown_answer(inner, key) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown_answer(inner, of) for inner in value]
    if of not in SHOWN or not isinstance(value, str):
        return value
    return visible(value) if of in LINES else visible_name(value)
