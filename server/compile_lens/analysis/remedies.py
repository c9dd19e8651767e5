"""Whether anything can be done about a graph break in torch's settings, as torch's own hints say (torch/_dynamo/graph_break_hints.py,
torch 2.8 to 2.13)."""

from __future__ import annotations

import re
from enum import Enum

from compile_lens.trace.report import BreakReason

SETTING = re.compile(r"torch\._(?:dynamo|functorch|inductor)\.config\.\w+\s*=\s*\w+")


class Remedy(str, Enum):
    """Part of the JSON contract. ``SETTING``: an option lets Dynamo trace it. ``FUNDAMENTAL``: Dynamo will hardly ever trace it,
    and the code has to change. ``SUPPORTABLE``: Dynamo could learn it. ``TORCH_BUG``: it is likely a bug of Dynamo's."""

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
    Remedy.FUNDAMENTAL: "no setting helps",
}


def remedy_of(reason: BreakReason) -> Remedy:
    """What the hints of a break say; a setting counts before everything else."""
    if any(SETTING.search(hint) for hint in reason.hints):
        return Remedy.SETTING
    for sign, remedy in SIGNS:
        if any(hint.lstrip().startswith(sign) for hint in reason.hints):
            return remedy
    return Remedy.UNKNOWN
