"""What the pages of the documentation show: commands, code and output, in the order in which they stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# made by the build from the product's tables
GENERATED = ROOT / "docs" / "reference"
_BLOCK = re.compile(r"^(?P<fence>```+)(?P<language>[\w-]*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(compile-lens [^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block. ``before`` is the text between it and the block above."""

    language: str
    text: str
    before: str


def pages() -> list[Path]:
    """All pages that are written by hand."""
    written = [path for path in (ROOT / "docs").rglob("*.md") if GENERATED not in path.parents]
    # every message with its variables, and results of runs: nothing there is for a reader to type
    results = {"messages.md", "CHANGELOG.md"}
    return sorted(path for path in (*ROOT.glob("*.md"), *written) if path.name not in results)


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    text, end = page.read_text(encoding="utf-8"), 0
    for match in _BLOCK.finditer(text):
        yield Block(match["language"], match["text"], text[end : match.start()])
        end = match.end()


def commands(page: Path) -> Iterator[str]:
    """The commands that a page tells its reader to type, without comments."""
    for block in blocks(page):
        for line in block.text.splitlines():
            if line.startswith("compile-lens "):
                yield re.split(r"\s{2,}#|\s+# ", line)[0].strip()


def mentions(page: Path) -> Iterator[str]:
    """The commands that a page names in a sentence."""
    for match in _INLINE.finditer(_BLOCK.sub("", page.read_text(encoding="utf-8"))):
        yield match[1]
