"""Knows which distribution brings a module: `cv2` is in opencv-python-headless."""

from __future__ import annotations

import functools
import json
from pathlib import Path

LIBRARIES = Path(__file__).parent / "data" / "libraries.json"


def distribution_of(module: str) -> str:
    """What to install for the top-level module ``module``; '' where that is not known: anyone may own a name that only looks right."""
    same, others = _known()
    return others.get(module) or (module.replace("_", "-") if module in same else "")


@functools.cache
def _known() -> tuple[frozenset[str], dict[str, str]]:
    data = json.loads(LIBRARIES.read_text(encoding="utf-8"))
    return frozenset(data["by the same name"]), data["by another name"]
