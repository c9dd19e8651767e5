"""Which entry a user chose for a file: one small file each, under the user's state directory, beside what was allowed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EntryMemory:
    """The choices, in ``folder``."""

    folder: Path

    def recall(self, file: str) -> str:
        """The entry chosen for ``file``, or ''."""
        try:
            known = json.loads(self._place(file).read_bytes())
        except (OSError, ValueError):
            return ""
        is_of_file = isinstance(known, dict) and known.get("file") == file and isinstance(known.get("entry"), str)
        return str(known["entry"]) if is_of_file else ""

    def remember(self, file: str, entry: str) -> None:
        """Keep ``entry`` for ``file``; '' forgets it. Raises OSError where nothing can be written."""
        place = self._place(file)
        if not entry:
            place.unlink(missing_ok=True)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}.new")
        try:
            new.write_text(json.dumps({"file": file, "entry": entry}), encoding="utf-8")
            new.replace(place)
        except BaseException:
            with contextlib.suppress(OSError):
                new.unlink()
            raise

    def _place(self, file: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:24]}.json"
