"""Keeps facts about files: one small JSON file each in the user's state directory, so that editors never write the same file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.state.atomic_file import write_atomically


class FileMemory(Struct, frozen=True):
    """Facts by file, in ``folder``."""

    folder: Path

    def recall(self, file: str) -> dict[str, Any]:
        """What is known of ``file``; nothing where that cannot be read."""
        try:
            known = json.loads(read_regular(self._place(file)))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) and known.get("file") == file else {}

    def remember(self, file: str, facts: Mapping[str, Any]) -> None:
        """Keep ``facts`` of ``file``; none forgets it. Raises OSError where nothing can be written."""
        place = self._place(file)
        if not facts:
            place.unlink(missing_ok=True)
            return
        write_atomically(place, json.dumps({"file": file, **facts}))

    def _place(self, file: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:24]}.json"


class EntryMemory(Struct, frozen=True):
    """The choices, in ``folder``."""

    folder: Path

    def recall(self, file: str) -> str:
        """The entry chosen for ``file``, or ''."""
        entry = FileMemory(self.folder).recall(file).get("entry")
        return entry if isinstance(entry, str) else ""

    def remember(self, file: str, entry: str) -> None:
        """Keep ``entry`` for ``file``; '' forgets it. Raises OSError where nothing can be written."""
        FileMemory(self.folder).remember(file, {"entry": entry} if entry else {})
