"""Which processes a test has left behind, found by a word in their environment that only this test knows."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

VARIABLE = "COMPILE_LENS_TEST_MARK"
PATIENCE_S = 10.0


class Mark:
    """A word that a test puts into the environment of what it starts; every descendant inherits it."""

    def __init__(self) -> None:
        self.word = uuid.uuid4().hex

    @property
    def environment(self) -> dict[str, str]:
        """The test's own environment, marked."""
        return {**os.environ, VARIABLE: self.word}

    def alive(self) -> list[int]:
        """The living (not zombie) processes with the mark."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                try:
                    marked = f"{VARIABLE}={self.word}".encode() in (folder / "environ").read_bytes()
                    state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
                except OSError:
                    continue
                if marked and state != b"Z":
                    found.append(int(folder.name))
        return found

    def none_left(self) -> bool:
        """Whether all are gone, waiting a while for those that are on their way."""
        deadline = time.monotonic() + PATIENCE_S
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
