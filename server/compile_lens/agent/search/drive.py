"""What every search does around its steps: a task that cannot be done is told in a word, and nothing is left when it ends."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from ..runtime import processes
from ..runtime.wire import Wire


class Unfit(Exception):
    """The repro cannot be searched. ``reason`` is a word for the host, which has the sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def drive(task: dict[str, Any], wire: Wire, search: Callable[[], None]) -> int:
    """Do one search; everything is told as events. The scratch folder of ``task`` is gone afterwards."""
    try:
        search()
    except Unfit as unfit:
        wire.event("unfit", reason=unfit.reason)
    finally:
        processes.end_orphans(2.0)
        shutil.rmtree(task["scratch"], ignore_errors=True)
    wire.event("done")
    return 0
