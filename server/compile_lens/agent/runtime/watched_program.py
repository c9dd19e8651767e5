"""Puts around the user's program what watches it, and runs it. The standby imports this, and all that it imports, before it forks."""

from __future__ import annotations

import sys
from typing import Any

from .. import OWN_FOLDER
from ..compare import comparer, gradients
from ..compare.region_results import RegionResults
from ..instrument import (
    compiler_options,
    depth,
    early_variables,
    guard_latency,
    lowered,
    notes,
    pass_notes,
    stage_notes,
    trace_sink,
    triton_kernels,
)
from ..substitutes.cuda.trial import TrialResult
from ..substitutes.enable import enable as enable_substitutes
from ..variations import watcher
from . import program
from .degraded import listen
from .imported_packages import packages_of_run
from .libraries import library_roots
from .protocol import AbilityLost, ResultNotes, RunCommand
from .wire import Wire


def run(command: RunCommand, wire: Wire, cuda: TrialResult) -> int:
    """Put everything around the program that watches it, and run it; the exit code."""
    trace_sink.install(wire, with_times=command.stages)
    listen(lambda what, why: wire.tell(AbilityLost(what, why)))
    varied = watcher.begin(command.vary, command.timeout_s) if command.vary is not None else None
    results = RegionResults(command.results is ResultNotes.EAGER) if command.results is not ResultNotes.OFF else None
    if results is not None:
        gradients.install()
    notes.install(OWN_FOLDER, varied or results or _recorder(command))
    chosen = enable_substitutes(command, OWN_FOLDER, library_roots(), cuda)
    if command.results is ResultNotes.LOWERED:
        lowered.install()
    else:
        depth.apply(chosen.value)
    guard_latency.install()
    compiler_options.apply(command.torch_options)
    early_variables.follow_variables()
    if command.compare:
        comparer.install()
    if command.stages:
        stage_notes.install()
        pass_notes.install()
        triton_kernels.install()
    at_end = next((watching.at_end for watching in (varied, results) if watching is not None), lambda: None)
    # what the standby's copy has imported for it is its own, too
    known = frozenset(sys.modules).difference(command.packages.modules if command.packages is not None else ())
    code = program.run(command.file, command.text, command.argv, wire, OWN_FOLDER, command.plan, at_end)
    if command.sandbox is not None and (imported := packages_of_run(known, command.file)) is not None:
        wire.tell(imported)
    return code


def _recorder(command: RunCommand) -> Any:
    """What watches the calls of compile regions, in a run that is to give a repro."""
    if command.capture is None:
        return None
    from ..capture.recorder import CallRecorder

    recorder = CallRecorder(trace_sink.write_note, library_roots(), OWN_FOLDER, command.capture.exact_folder)
    recorder.install()
    return recorder
