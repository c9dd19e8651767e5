"""The page in front of a group of pages."""

from __future__ import annotations

from collections.abc import Iterable


def index_page(title: str, text: str, pages: Iterable[str], *, depth: int = 1) -> str:
    """A title, an introduction and links to ``pages``, which are names of files without their suffix."""
    listed = "\n".join(pages)
    return f"# {title}\n\n{text}\n\n```{{toctree}}\n:maxdepth: {depth}\n\n{listed}\n```\n"
