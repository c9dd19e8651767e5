"""Another file of the workspace, run as a script: it uses the file that is looked at."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..runtime.program import read, remember, run_main
from ..runtime.protocol import CallMade, EntryCalled
from ..runtime.wire import Wire
from .module import load


def run(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Run ``plan["path"]``; what it imports of ``file`` has the text ``source``."""
    path = plan["path"]
    text = read(path)
    sys.path.insert(0, os.path.dirname(path))
    load(file, source)
    remember(path, text)
    sys.argv = [path, *plan.get("argv", ())]
    wire.tell(EntryCalled((CallMade(os.path.basename(path)),)))
    run_main(path, text)
