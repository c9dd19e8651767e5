"""Reads the explanations that Compile Lens brings: Markdown, one file per kind in ``texts/``.

``## name`` begins an entry. Lines ``stage: …``, ``related: a, b`` and (for a sample) ``recorded: …`` may follow directly; the rest
is its text. Entries of one line are list items: ``- `name`: text``. An entry for several names is written once: ``a | b``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compile_lens.knowledge.entry import KnowledgeKind

TEXTS = Path(__file__).parent / "texts"
_ITEM = re.compile(r"- `([^`]+)`: (.+)")
_FIELD = re.compile(r"(stage|related|recorded): (.+)")


@dataclass(frozen=True, slots=True)
class Curated:
    """The text for one name."""

    text: str
    stage: str = ""
    related: tuple[str, ...] = ()
    recorded: str = ""


@cache
def curated(kind: KnowledgeKind) -> dict[str, Curated]:
    """Texts of ``kind`` by name."""
    return read_texts(TEXTS / f"{kind.value}.md")


@cache
def log_samples() -> dict[str, tuple[str, str]]:
    """Recorded output of logs and where it was recorded, by name (tests/knowledge/record_samples.py)."""
    texts = read_texts(TEXTS / "log_samples.md")
    return {
        name: (entry.text.removeprefix("```text\n").removesuffix("\n```"), entry.recorded or "torch 2.13")
        for name, entry in texts.items()
    }


def read_texts(path: Path) -> dict[str, Curated]:
    """Entries of a file, in its order; none if there is no such file."""
    if not path.is_file():
        return {}
    found: dict[str, Curated] = {}
    name, lines = "", list[str]()
    for line in [*path.read_text(encoding="utf-8").split("\n"), "## "]:
        item = _ITEM.fullmatch(line) if not name or not lines else None
        if item is not None:
            found.update(dict.fromkeys(item.group(1).split(" | "), Curated(item.group(2))))
        elif line.startswith("## "):
            if name:
                entry = _entry(lines)
                found.update(dict.fromkeys(name.split(" | "), entry))
            name, lines = line[3:].strip(), []
        elif name:
            lines.append(line)
    return found


def _entry(lines: list[str]) -> Curated:
    fields: dict[str, str] = {}
    while lines and (match := _FIELD.fullmatch(lines[0])) is not None:
        fields[match.group(1)] = match.group(2)
        lines = lines[1:]
    related = tuple(part.strip().strip("`") for part in fields.get("related", "").split(",") if part.strip())
    return Curated("\n".join(lines).strip(), fields.get("stage", ""), related, fields.get("recorded", ""))
