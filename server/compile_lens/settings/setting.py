"""Metadata of one setting: help text, choices, minimum and scope."""

from __future__ import annotations

from typing import Any


def documented(
    text: str,
    *,
    values: tuple[str, ...] = (),
    minimum: float | None = None,
    scope: str = "window",
    switches: frozenset[str] = frozenset(),
    is_text: bool = False,
) -> dict[str, Any]:
    """Metadata of a field. ``values`` documents the members of an enum in their order; ``scope`` is VS Code's word; ``switches``
    are the keys of an object of true and false; ``is_text``: an object may have any texts."""
    return {
        "text": text,
        "values": values,
        "minimum": minimum,
        "scope": scope,
        "switches": switches,
        "is_text": is_text,
    }
