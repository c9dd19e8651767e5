"""Options of torch's config modules by dotted name, as in ``torch._inductor.config.cpp.simdlen``."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def set_option(name: str, value: Any) -> bool:
    """Set an option. False where this torch has none of that name."""
    found = find_option(name)
    if found is None:
        return False
    owner, last = found
    setattr(owner, last, value)
    return True


def set_loaded_option(name: str, value: Any) -> None:
    """Set an option whose module has been imported; otherwise the module reads its environment variable later."""
    if name.rpartition(".")[0] in sys.modules:
        set_option(name, value)


def find_option(name: str) -> tuple[Any, str] | None:
    """The object that holds an option, and the option's own name; None where this torch has no such option."""
    parts = name.split(".")
    at = parts.index("config") + 1 if "config" in parts else len(parts) - 1
    try:
        owner: Any = importlib.import_module(".".join(parts[:at]))
        for part in parts[at:-1]:
            owner = getattr(owner, part)
        getattr(owner, parts[-1])
    except (ImportError, AttributeError):
        return None
    return owner, parts[-1]
