"""Runs a file by the entry that a job's plan names, where it is not to be run as a script."""

from __future__ import annotations

import importlib
from typing import Any

from ..runtime.entry_protocol import EntryUnusable
from ..runtime.wire import Wire

# the kind of a plan -> the module of this package that runs it, and its function
RUNNERS = {
    "inputs": ("conventions", "run"),
    "doctest": ("doctests", "run"),
    "test": ("importers", "run_test"),
    "file": ("importers", "run_script"),
    "call": ("calls", "run_written"),
    "model": ("program_model", "run"),
    "example": ("program_model", "run_example"),
    "recorded": ("calls", "run_synthesized"),
    "synthesized": ("calls", "run_synthesized"),
    "synthesised": ("calls", "run_synthesized"),  # the older spelling
}


class UnusableEntry(Exception):
    """An entry cannot be used; its message is one sentence for the user."""


def run(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Run ``file`` with the text ``source`` as ``plan`` says. Raises what the program raises."""
    module, name = RUNNERS[plan["kind"]]
    runner = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    try:
        runner(plan, file, source, wire)
    except UnusableEntry as problem:
        wire.tell(EntryUnusable(str(problem)))
