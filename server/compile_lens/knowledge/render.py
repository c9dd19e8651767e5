"""Renders an explanation as Markdown, for a hover, a completion, a terminal or a document."""

from __future__ import annotations

from pathlib import Path

from compile_lens.knowledge.docstring_markdown import readable
from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind, TorchPlace
from compile_lens.knowledge.tables import Tables
from compile_lens.shown_text import code_block

MAX_PLACES = 4
MAX_RELATED = 8


def to_markdown(entry: KnowledgeEntry, tables: Tables, *, heading: bool = True) -> str:
    """The whole entry. The last line names the torch version and the author of the text."""
    parts = [_heading(entry)] if heading else []
    return "\n\n".join((*parts, body(entry, tables), f"---\n{footer(entry, tables)}"))


def body(entry: KnowledgeEntry, tables: Tables) -> str:
    """What there is to say, without the name and the version. torch's text is quoted."""
    parts: list[str] = []
    if entry.ours:
        parts.append(entry.ours)
    if entry.theirs:
        parts.append(_quoted(readable(entry.theirs)))
    if entry.sample:
        parts.append(f"Sample output (recorded with {entry.recorded}):\n\n{code_block(entry.sample)}")
    if entry.facts:
        parts.append("\n".join(f"- {label}: {value}" for label, value in entry.facts))
    if entry.related:
        parts.append("See also: " + ", ".join(f"`{name}`" for name in entry.related[:MAX_RELATED]))
    if entry.url:
        parts.append(
            f"[{entry.url.rpartition('/')[2].removesuffix('.html').upper()} in torch's documentation]({entry.url})"
        )
    places = [_link(place, tables) for place in entry.places[:MAX_PLACES]]
    if places:
        parts.append("Source: " + ", ".join(places))
    return "\n\n".join(parts)


def footer(entry: KnowledgeEntry, tables: Tables) -> str:
    """The torch version, the releases that have the name, and the author of the text."""
    which = f"torch {tables.torch}{', bundled table' if tables.bundled else ''}"
    if tables.instead_of:
        which += f"; torch {tables.instead_of} is installed"
    if entry.kind is KnowledgeKind.TRITON and tables.triton and not entry.name.startswith("triton_helpers"):
        which += f", triton {tables.triton}"
    since = f" · {entry.versions}" if entry.versions else ""
    if entry.ours and entry.theirs:
        author = "quoted text by torch, the rest by Compile Lens"
    elif entry.theirs:
        author = "text by torch"
    elif entry.ours:
        author = "text by Compile Lens"
    else:
        author = "torch has no text about it; the facts are read from its source"
    return f"*{which}{since} · {author}*"


def place_uri(place: TorchPlace, tables: Tables) -> str | None:
    """The URI of a place with its line; None if that torch is not on this machine."""
    if tables.root is None:
        return None
    return f"{(Path(tables.root) / place.path).as_uri()}#L{place.line}"


def _heading(entry: KnowledgeEntry) -> str:
    stage = f" · {entry.stage}" if entry.stage and entry.stage not in entry.kind.label.lower() else ""
    return f"**`{entry.full_name}`** · {entry.kind.label}{stage}"


def _quoted(text: str) -> str:
    # a line of an interactive session is no quotation in the quotation
    lines = (f"    {line}" if line.startswith(">>") else line for line in text.split("\n"))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _link(place: TorchPlace, tables: Tables) -> str:
    uri = place_uri(place, tables)
    shown = f"`{place}`" if uri is None else f"[{place}]({uri})"
    return f"{shown} ({place.label})"
