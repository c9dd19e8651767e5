"""``python -m benchmarks``: measures the rows of the table, prints them, and keeps them as JSON and in docs/performance.md."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    # in a copy of the tree that is not installed; what is started finds it, too
    if importlib.util.find_spec("compile_lens") is None:
        sys.path.insert(0, str(ROOT / "server"))
    folders = [str(ROOT / "server"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))

    from benchmarks.table.command import main

    main()
