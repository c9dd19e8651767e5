"""What every search does around its steps: a task that cannot be done is told in a word, and nothing is left when it ends."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from ..runtime import processes
from ..runtime.protocol import ProgramDone
from ..runtime.search_protocol import BisectRequest, MinifyRequest, SearchUnfit
from ..runtime.wire import Wire


class Unfit(Exception):
    """The repro cannot be searched. ``reason`` is a word for the host, which has the sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def drive(request: BisectRequest | MinifyRequest, wire: Wire, search: Callable[[], None]) -> int:
    """Do one search; everything is told as events. The scratch folder of ``request`` is gone afterwards."""
    try:
        search()
    except Unfit as unfit:
        wire.tell(SearchUnfit(unfit.reason))
    finally:
        processes.end_orphans(2.0)
        shutil.rmtree(request.scratch, ignore_errors=True)
    wire.tell(ProgramDone())
    return 0
