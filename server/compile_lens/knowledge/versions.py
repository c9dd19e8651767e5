"""Knows which releases of torch have a name, from the sources of those releases (tests/knowledge/record_versions.py)."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from compile_lens.knowledge.entry import KnowledgeKind

DATA = Path(__file__).parent / "data" / "versions.json.gz"


@dataclass(frozen=True, slots=True)
class History:
    """The recorded releases (``2.6``, ``2.7``, …), and which of them have each name: a string of 0 and 1 per name.

    ``changed``: by operator, the releases in which the schema of an overload changed.
    """

    releases: tuple[str, ...]
    names: dict[str, dict[str, str]]
    changed: dict[str, list[list[str]]] = field(default_factory=dict)

    def seen(self, kind: KnowledgeKind, name: str) -> tuple[str, ...]:
        """The releases that have ``name``; none if no release has it, or the kind was not recorded."""
        marks = self.names.get(kind.value, {}).get(name, "")
        return tuple(release for release, mark in zip(self.releases, marks, strict=False) if mark == "1")

    def knows(self, kind: KnowledgeKind) -> bool:
        """Whether the names of ``kind`` were recorded."""
        return kind.value in self.names

    def note(self, kind: KnowledgeKind, name: str) -> str:
        """``added in torch 2.9``, ``removed in torch 2.14``, ``schema of `Tensor` changed in torch 2.8``, or ''."""
        seen = self.seen(kind, name)
        if not seen:
            return ""
        at = [self.releases.index(release) for release in seen]
        parts = []
        if at[0] > 0:
            parts.append(f"added in torch {seen[0]}")
        if at[-1] < len(self.releases) - 1:
            parts.append(f"removed in torch {self.releases[at[-1] + 1]}")
        if kind is KnowledgeKind.OPERATOR:
            parts += self._changes(name)
        return ", ".join(parts)

    def _changes(self, name: str) -> list[str]:
        """For ``aten.add`` the changes of all its overloads, for ``aten.add.Tensor`` its own."""
        packet = ".".join(name.split(".")[:2])
        wanted = name.removeprefix(packet).lstrip(".")
        by_release: dict[str, list[str]] = {}
        for release, overload in self.changed.get(packet, ()):
            if wanted in ("", overload):
                by_release.setdefault(release, []).append(f"`{overload}`")
        return [
            f"schema of {', '.join(overloads)} changed in torch {release}" for release, overloads in by_release.items()
        ]

    def why_unknown(self, kind: KnowledgeKind, name: str, torch: str) -> str:
        """Why the release ``torch`` does not know ``name`` though another does: a clause, or ''."""
        seen = self.seen(kind, name)
        if not seen:
            return ""
        current = order(torch)
        if current < order(seen[0]):
            return f"it was added in torch {seen[0]}"
        if current > order(seen[-1]):
            following = self.releases.index(seen[-1]) + 1
            since = self.releases[following] if following < len(self.releases) else torch
            return f"it was removed in torch {since}"
        return ""

    def known_elsewhere(self, kind: KnowledgeKind) -> tuple[str, ...]:
        """All names of ``kind`` in any release."""
        return tuple(self.names.get(kind.value, {}))


def order(version: str) -> tuple[int, int]:
    """Major and minor number of ``2.13.0+cpu``."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match.group(1)), int(match.group(2))) if match is not None else (0, 0)


@cache
def history() -> History:
    """The bundled data."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return History(tuple(content["releases"]), content["names"], content.get("changed", {}))
