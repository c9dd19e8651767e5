"""Virtual environments for nightly tests of packages that development does not need: kept in .cache, with all that this Python has."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import filelock

ROOT = Path(__file__).parent.parent


def python_with(*packages: str) -> str:
    """The interpreter of an environment that has ``packages``, too. It takes a minute and the network the first time."""
    folder = ROOT / ".cache" / "environments" / "-".join(packages)
    python = folder / "bin" / "python"
    with filelock.FileLock(f"{folder}.lock", timeout=600):
        if not (folder / "complete").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
            site = next(folder.glob("lib/python*/site-packages"))
            (site / "of_the_tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'server'}\n")
            (folder / "complete").touch()
    return str(python)
