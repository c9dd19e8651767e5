"""Operators that a release of torch declares, read from ``torchgen/packaged/ATen/native/native_functions.yaml`` of its wheel."""

from __future__ import annotations

import re
from pathlib import Path

# TorchScript had these before they were declared here, registered by its own C++
BEFORE = frozenset({"dim", "get_device", "is_contiguous", "numel", "storage_offset"})
FILE = "torchgen/packaged/ATen/native/native_functions.yaml"
_DECLARED = re.compile(r"^- func: (?P<name>\w+)(?:\.(?P<overload>\w+))?(?P<rest>\(.*)$")
_GENERATED = re.compile(r"^  autogen: (?P<names>.+)$")


def operators(root: Path) -> dict[str, str]:
    """Schemas by overload (``aten.add.Tensor``); '' for one that is generated from another. Empty when the file is not there."""
    found: dict[str, str] = {}
    file = root / FILE
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        declared = _DECLARED.match(line)
        if declared is not None and declared["name"] not in BEFORE:
            name = f"aten.{declared['name']}.{declared['overload'] or 'default'}"
            found[name] = f"{declared['name']}{declared['rest']}"
        generated = _GENERATED.match(line)
        for part in generated["names"].split(",") if generated is not None else ():
            packet, _, overload = part.strip().partition(".")
            found.setdefault(f"aten.{packet}.{overload or 'default'}", "")
    return found
