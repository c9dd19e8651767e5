"""Packages that a corpus is made of, in a folder of their own below ``.cache``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def install(listed: Path, folder: Path, then: Callable[[], None] = lambda: None) -> None:
    """Fetch what the file ``listed`` names into ``folder``, without what it depends on, when the list is another than last time.

    ``then`` is called after that. Raises CalledProcessError.
    """
    mark = folder / "installed.txt"
    wanted = listed.read_text(encoding="utf-8")
    if not mark.exists() or mark.read_text(encoding="utf-8") != wanted:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
        subprocess.run([*command, "--requirement", str(listed)], check=True)
        then()
        mark.write_text(wanted, encoding="utf-8")
