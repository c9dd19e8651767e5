"""Runs a file by one of the ways in that are not a script; a job's plan says which."""

from __future__ import annotations

import importlib
from typing import Any

from ..runtime.protocol import EntryUnusable
from ..runtime.wire import Wire

# the kind of a plan -> the module of this package that knows it, and its function
WAYS = {
    "inputs": ("conventions", "run"),
    "doctest": ("doctests", "run"),
    "test": ("pytest_node", "run"),
    "file": ("other_file", "run"),
    "call": ("calls", "run_written"),
    "recorded": ("calls", "run_synthesized"),
    "synthesized": ("calls", "run_synthesized"),
    "synthesised": ("calls", "run_synthesized"),  # the older spelling
}


class Unusable(Exception):
    """An entry cannot be used; its message is one sentence for the user."""


def run(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Run ``file`` with the text ``source`` as ``plan`` says. Raises what the program raises."""
    module, name = WAYS[plan["kind"]]
    way = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    try:
        way(plan, file, source, wire)
    except Unusable as problem:
        wire.tell(EntryUnusable(str(problem)))
