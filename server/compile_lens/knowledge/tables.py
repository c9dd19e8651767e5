"""Reads the tables that the agent extracted from a torch (agent/tables/extract.py): a zip file with one JSON member per kind."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compile_lens.knowledge.entry import KnowledgeKind

FORMAT = 2
BUNDLED = Path(__file__).parent / "data" / "torch.zip"
Table = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Read-only and lazy: a kind is read on first use. ``root`` is the folder that contains that torch, if it is installed.

    ``bundled``: they come with Compile Lens. ``instead_of`` is then the version of the installed torch, if that is another release.
    """

    path: Path
    torch: str
    triton: str
    root: str | None
    bundled: bool = False
    instead_of: str = ""
    _read: dict[KnowledgeKind, Table] = field(default_factory=dict)

    def table(self, kind: KnowledgeKind) -> Table:
        """Names of ``kind`` and their facts; empty for a kind that has only texts."""
        known = self._read.get(kind)
        if known is None:
            known = self._read[kind] = self._load(kind)
        return known

    def _load(self, kind: KnowledgeKind) -> Table:
        with zipfile.ZipFile(self.path) as archive:
            if f"{kind.value}.json" not in archive.namelist():
                return {}
            table: Table = json.loads(archive.read(f"{kind.value}.json"))
            return table


def open_tables(path: Path) -> Tables | None:
    """The tables in ``path``; None if they cannot be read or have another format."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    if manifest.get("format") != FORMAT:
        return None
    return Tables(path, manifest["torch"], manifest["triton"], manifest["root"] or None)


def bundled_tables(installed: str = "", root: str | None = None) -> Tables:
    """The tables that come with Compile Lens. ``installed`` is the version of the torch in the folder ``root`` that they stand in for.

    If it is of the same release, its sources are the same, and places lead to them.
    """
    tables = open_tables(BUNDLED)
    assert tables is not None, BUNDLED
    same = release(installed) == release(tables.torch)
    return replace(tables, root=root if same else None, bundled=True, instead_of="" if same else installed)


def release(version: str) -> str:
    """``2.13.0`` of ``2.13.0+cpu``: builds for other devices have the same sources."""
    return version.partition("+")[0]
