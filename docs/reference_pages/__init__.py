"""Pages of the site that are made from the product's own tables: commands, settings, and the names that torch uses."""

from __future__ import annotations

from pathlib import Path

from reference_pages import commands, names, settings


def write_reference(folder: Path) -> None:
    """Write all pages below ``folder``. A page that says the same is left alone, so that a second build reads only what changed."""
    pages = {**commands.pages(), **settings.pages(), **names.pages()}
    for path, text in pages.items():
        target = folder / path
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for left in set(folder.rglob("*.md")) - {folder / path for path in pages}:
        left.unlink()
