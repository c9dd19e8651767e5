"""Reads the message templates out of the VS Code extension: its manifest, and the literals of its TypeScript."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.messages.templates import ROOT, Template, is_prose

CLIENT = ROOT / "vscode-client"
# keys of package.json whose texts VS Code shows
SHOWN_KEYS = (
    "title",
    "description",
    "markdownDescription",
    "enumDescriptions",
    "markdownEnumDescriptions",
    "displayName",
)
PLACE = re.compile(
    r"^(?:export )?(?:default )?(?:async )?(?:function|class|const) (\w+)"
    r"|^  (?:(?:private|public|async|static|readonly|get) )*(\w+)\(.*\{$",
    re.M,
)
# before a slash that opens a regular expression, and does not divide
BEFORE_REGEX = re.compile(r"(?:[(,=:\[!&|?{};>]|return|^)\s*\Z")
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`|/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[*])+/""",
    re.S,
)
Pieces = tuple[str, ...]


def client_templates(known: set[str]) -> list[Template]:
    """Those of the extension; a text of ``known`` is the server's, which the manifest repeats."""
    found = [*_manifest(), *_sources()]
    return list(dict.fromkeys(template for template in found if template.text not in known))


def _manifest() -> Iterator[Template]:
    def walk(value: Any, path: str) -> Iterator[Template]:
        if isinstance(value, dict):
            for key, child in value.items():
                name = child["command"] if isinstance(child, dict) and "command" in child else key
                for text in child if isinstance(child, list) else [child]:
                    if key in SHOWN_KEYS and isinstance(text, str) and is_prose((text,), is_title=True):
                        yield Template("vscode-client", "package.json", value.get("command", path), text, (text,))
                yield from walk(child, name)
        elif isinstance(value, list):
            for child in value:
                yield from walk(child, path)

    yield from walk(json.loads((CLIENT / "package.json").read_text()), "")


def _sources() -> Iterator[Template]:
    for file in sorted((CLIENT / "src").rglob("*.ts")):
        source = file.read_text()
        for start, pieces, holes in _joined(source, list(_literals(source, 0, len(source)))):
            if is_prose(pieces, is_title=True) and not _is_import(source, start):
                text = pieces[0] + "".join(f"{{{hole}}}{piece}" for hole, piece in zip(holes, pieces[1:], strict=True))
                yield Template("vscode-client", f"src/{file.name}", _place(source, start), text, pieces)


def _is_import(source: str, start: int) -> bool:
    line = source[source.rfind("\n", 0, start) + 1 : start]
    return bool(re.match(r"import |export .* from |.*\brequire\(", line))


def _place(source: str, start: int) -> str:
    names = [next(name for name in found.groups() if name) for found in PLACE.finditer(source, 0, start)]
    return names[-1] if names else ""


def _joined(source: str, literals: list[tuple[int, int, Pieces, Pieces]]) -> Iterator[tuple[int, Pieces, Pieces]]:
    """Literals with a plus between them are one."""
    texts: list[tuple[int, int, Pieces, Pieces]] = []
    for start, end, pieces, holes in literals:
        if texts and re.fullmatch(r"\s*\+\s*", source[texts[-1][1] : start]):
            first, _, before, names = texts.pop()
            start, pieces, holes = first, (*before[:-1], before[-1] + pieces[0], *pieces[1:]), (*names, *holes)
        texts.append((start, end, pieces, holes))
    for start, _, pieces, holes in texts:
        yield start, pieces, holes


def _literals(source: str, start: int, end: int) -> Iterator[tuple[int, int, Pieces, Pieces]]:
    """Every literal between two places, with those in the values of a template literal: (start, end, pieces, holes)."""
    while (token := TOKEN.search(source, start, end)) is not None:
        text, start = token[0], token.end()
        if text == "`":
            inner: list[tuple[int, int]] = []
            start, pieces = _template(source, start, inner)
            holes = tuple(_hole(source[a:b]) for a, b in inner)
            yield token.start(), start, pieces, holes
            for a, b in inner:
                yield from _literals(source, a, b)
        elif text[0] in "\"'":
            yield (
                token.start(),
                start,
                (re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text[1:-1]),),
                (),
            )
        elif text[0] == "/" and text[1] not in "/*" and not BEFORE_REGEX.search(source, 0, token.start()):
            start = token.start() + 1


def _template(source: str, start: int, inner: list[tuple[int, int]]) -> tuple[int, Pieces]:
    """A template literal from behind its first backtick: its end, and its pieces; ``inner`` takes the places of its values."""
    pieces = [""]
    while source[start] != "`":
        if source.startswith("${", start):
            depth, at = 1, start + 2
            while depth:
                if source[at] == "`":
                    at, _ = _template(source, at + 1, [])
                    continue
                depth += {"{": 1, "}": -1}.get(source[at], 0)
                at += 1
            inner.append((start + 2, at - 1))
            pieces.append("")
            start = at
        else:
            length = 2 if source[start] == "\\" else 1
            pieces[-1] += source[start : start + length].replace("\\n", "\n").removeprefix("\\")
            start += length
    return start + 1, tuple(pieces)


def _hole(expression: str) -> str:
    """``finding|findings`` for a choice between two words, else the last name."""
    if choice := re.search(r"""\? ["']([^"']*)["'] : ["']([^"']*)["']\s*$""", expression):
        return f"{choice[1]}|{choice[2]}"
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\(.*\)", "", re.sub(r"""(["']).*?\1""", "", expression)))
    return names[-1] if names else "value"
