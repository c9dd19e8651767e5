"""What every search does around its steps: reports why it was refused, and cleans up when it ends."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from ..runtime import processes
from ..runtime.degraded import listen
from ..runtime.wire import Wire


class SearchRefused(Exception):
    """The repro cannot be searched. ``reason`` is a code; the host has the sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def run_search(task: dict[str, Any], wire: Wire, search: Callable[[], None]) -> int:
    """Run one search and report it as events. The scratch folder of ``task`` is deleted afterwards."""
    listen(lambda what, why: wire.event("degraded", what=what, why=why))
    try:
        search()
    except SearchRefused as refused:
        wire.event("unfit", reason=refused.reason)
    finally:
        processes.end_orphans(2.0)
        shutil.rmtree(task["scratch"], ignore_errors=True)
    wire.event("done")
    return 0
