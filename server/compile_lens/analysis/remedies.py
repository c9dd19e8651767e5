"""Says whether a setting of torch avoids a graph break, from torch's own hints (torch/_dynamo/graph_break_hints.py, torch 2.8 to 2.13)."""

from __future__ import annotations

import re
from enum import Enum

from compile_lens.trace.report import BreakReason

SETTING = re.compile(r"torch\._(?:dynamo|functorch|inductor)\.config\.\w+\s*=\s*\w+")


class Remedy(str, Enum):
    """Part of the JSON contract. ``SETTING``: an option lets Dynamo trace it. ``FUNDAMENTAL``: the code has to change.
    ``SUPPORTABLE``: Dynamo could support it. ``TORCH_BUG``: it is likely a bug in Dynamo."""

    SETTING = "setting"
    FUNDAMENTAL = "fundamental"
    SUPPORTABLE = "supportable"
    TORCH_BUG = "torch-bug"
    UNKNOWN = ""


SIGNS = (
    ("This graph break is fundamental", Remedy.FUNDAMENTAL),
    ("It may be possible to write Dynamo tracing rules", Remedy.SUPPORTABLE),
    ("This is likely to be a Dynamo bug", Remedy.TORCH_BUG),
)
WORDS = {
    Remedy.SETTING: "a setting lets Dynamo trace it",
    Remedy.FUNDAMENTAL: "no setting avoids it",
}


def remedy_of(reason: BreakReason) -> Remedy:
    """What the hints of a break say; a setting takes precedence."""
    if any(SETTING.search(hint) for hint in reason.hints):
        return Remedy.SETTING
    for sign, remedy in SIGNS:
        if any(hint.lstrip().startswith(sign) for hint in reason.hints):
            return remedy
    return Remedy.UNKNOWN
