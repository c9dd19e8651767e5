"""The blocks of ``compileLens/detailsAt``: text in pieces, so that an editor shows it as it is and never reads it as markup.

docs/editors/protocol.md describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import dedent
from typing import Any

from lsprotocol import types

from compile_lens.lsp.tree_nodes import command_to_json
from compile_lens.shown_text import spans, visible

Block = dict[str, Any]
Piece = dict[str, Any]


def pieces(value: str) -> list[Piece]:
    """A line of text, in which single backticks make code."""
    return [{"text": text, "code": True} if is_code else {"text": text} for text, is_code in spans(value)]


def code_piece(value: str) -> Piece:
    """A piece that is all code."""
    return {"text": visible(value), "code": True}


def place_piece(label: str, uri: str, line: int) -> Piece:
    """A link to a line, which counts from 0."""
    return {"text": visible(label), "uri": uri, "line": line}


def heading(title: str, code: str = "", severity: str = "") -> Block:
    """A heading, with a code beside it."""
    return {"kind": "heading", "pieces": pieces(title), **_given(code=code, severity=severity)}


def text(value: Sequence[Piece]) -> Block:
    """A paragraph."""
    return {"kind": "text", "pieces": list(value)}


def items(title: str, found: Iterable[Sequence[Piece]]) -> Block:
    """A list under a title."""
    return {"kind": "list", "title": title, "items": [list(entry) for entry in found]}


def code(value: str, title: str = "") -> Block:
    """Lines of code; under a title they are folded at first."""
    return {"kind": "code", "text": visible(value), **_given(title=title)}


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Sequence[Piece]]]) -> Block:
    """A table, whose cells are texts."""
    return {"kind": "table", "title": title, "columns": list(columns), "rows": [[list(c) for c in row] for row in rows]}


def actions(commands: Iterable[types.Command]) -> Block:
    """Buttons that run commands of the server."""
    return {"kind": "actions", "commands": [{**command_to_json(one), "pieces": pieces(one.title)} for one in commands]}


def prose(value: str) -> list[Block]:
    """Plain text of several paragraphs. Lines indented by four or more columns are code, as in a docstring."""
    blocks: list[Block] = []
    for indented, lines in groupby(value.strip().splitlines(), key=lambda line: line.startswith("    ")):
        joined = "\n".join(lines)
        if indented:
            blocks.append(code(dedent(joined)))
        else:
            blocks += [text(pieces(part.strip())) for part in joined.split("\n\n") if part.strip()]
    return blocks


def _given(**fields: str) -> dict[str, str]:
    return {name: visible(value) for name, value in fields.items() if value}
