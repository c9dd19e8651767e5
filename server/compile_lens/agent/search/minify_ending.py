"""How a run of a repro ends, in the terms in which a smaller repro must end in the same way."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from ..runtime.regular_file import read_regular_text
from .drive import SearchRefused
from .step import BROKEN
from .steps import StepResult

BAD, CANNOT_JUDGE = 1, 125


@dataclass(frozen=True)
class Ending:
    """How a run of a repro ended, in terms of what must stay the same. ``text`` is for the user: what compiled code raised."""

    code: int
    signal: int
    crashed_in: str = ""
    error: tuple[str, ...] = ()
    text: str = field(default="", compare=False)


def bad_ending(first: StepResult, raised: str, limit_s: float) -> Ending:
    """How the repro that was given ends. Raises SearchRefused if it does not fail."""
    if first.timeout:
        raise SearchRefused("too-long", f"{limit_s:.0f}")
    last = first.output.strip().rpartition("\n")[2].rstrip(".")
    if first.code == CANNOT_JUDGE:
        raise SearchRefused("cannot-judge", last)
    if first.code == BROKEN:
        raise SearchRefused("raises", last)
    if not first.signal and first.code != BAD:
        raise SearchRefused("not-bad")
    return ending_of(first, raised)


def ending_of(ended: StepResult, raised: str) -> Ending:
    """How a run ended that wrote what compiled code raises to the file ``raised``."""
    error: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        error = json.loads(read_regular_text(raised))
    crashed_in = innermost_function(ended.crash_stack or ended.output) if ended.signal else ""
    return Ending(ended.code, ended.signal, crashed_in, tuple(error.get("signature", ())), error.get("text", ""))


def innermost_function(crash_stack: str) -> str:
    """The function in which a process crashed, by the text of ``faulthandler``; '' if it has none."""
    _, _, own = crash_stack.partition("Current thread ")
    found = re.search(r'^  File ".*", line \d+ in (\S+)', own, re.MULTILINE)
    return found[1] if found is not None else ""
