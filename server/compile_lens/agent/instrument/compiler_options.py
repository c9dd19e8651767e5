"""Sets options of the compiler before the user's first line, as the program itself could do there."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ..runtime.degraded import degraded
from ..torch_internals.options import find_option

WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False, "none": None}


def apply(options: Mapping[str, str]) -> None:
    """Set each option, by its full name (``torch._inductor.config.max_autotune``). What this torch does not have is reported."""
    for name, text in options.items():
        found = find_option(name)
        if found is None:
            degraded(f"the option `{name}`", "this torch does not have it")
            continue
        owner, last = found
        setattr(owner, last, _value(text, getattr(owner, last)))


def _value(text: str, current: Any) -> Any:
    """What ``text`` says: a literal, a word, or itself. ``1`` turns on what is on or off."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return bool(value) if isinstance(current, bool) and isinstance(value, int) else value
