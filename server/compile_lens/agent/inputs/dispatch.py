"""Runs a file by the entry that a job's plan names, where it is not to be run as a script."""

from __future__ import annotations

import importlib

from ..runtime.entry_plans import (
    DoctestExamples,
    DocumentedExample,
    EntryPlan,
    ExampleInputs,
    ImportingScript,
    ImportingTest,
    ModelOfScript,
    SynthesizedCalls,
    UsingScript,
    UsingTest,
    WrittenCall,
)
from ..runtime.entry_protocol import EntryUnusable
from ..runtime.wire import Wire
from . import compiled_call
from .importing import untraced_stubs

# the module of this package that runs a plan, and its function
RUNNERS = {
    ExampleInputs: ("conventions", "run"),
    DoctestExamples: ("doctests", "run"),
    ImportingTest: ("importers", "run_test"),
    ImportingScript: ("importers", "run_script"),
    UsingTest: ("uses_of_file", "run_test"),
    UsingScript: ("uses_of_file", "run_script"),
    WrittenCall: ("calls", "run_written"),
    ModelOfScript: ("program_model", "run"),
    DocumentedExample: ("program_model", "run_example"),
    SynthesizedCalls: ("calls", "run_synthesized"),
}


class UnusableEntry(Exception):
    """An entry cannot be used; its message is one sentence for the user."""


def run(plan: EntryPlan, file: str, source: str, wire: Wire) -> None:
    """Run ``file`` with the text ``source`` as ``plan`` says. Raises what the program raises."""
    compiled_call.leave_out_ended_calls()
    untraced_stubs.install()
    module, name = RUNNERS[type(plan)]
    runner = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    try:
        runner(plan, file, source, wire)
    except UnusableEntry as problem:
        wire.tell(EntryUnusable(str(problem)))
