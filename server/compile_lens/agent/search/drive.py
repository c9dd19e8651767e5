"""What every search does around its steps: reports why it was refused, and cleans up when it ends."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from ..runtime import processes
from ..runtime.degraded import listen
from ..runtime.protocol import AbilityLost, ProgramDone
from ..runtime.search_protocol import BisectRequest, MinifyRequest, SearchUnfit
from ..runtime.wire import Wire


class SearchRefused(Exception):
    """The repro cannot be searched. ``reason`` is a code; the host has the sentence for the user, which ``detail`` is a part of."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def run_search(request: BisectRequest | MinifyRequest, wire: Wire, search: Callable[[], None]) -> int:
    """Run one search and report it as events. The scratch folder of ``request`` is deleted afterwards."""
    listen(lambda what, why: wire.tell(AbilityLost(what, why)))
    try:
        search()
    except SearchRefused as refused:
        wire.tell(SearchUnfit(refused.reason, refused.detail))
    finally:
        processes.end_orphans(2.0)
        shutil.rmtree(request.scratch, ignore_errors=True)
    wire.tell(ProgramDone())
    return 0
