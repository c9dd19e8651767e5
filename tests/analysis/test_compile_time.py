"""What compiling costs, and what each call costs before it computes: told of recorded traces alone."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.trace.files import trace_files

MANY_GUARDS = Path(__file__).parent.parent / "data" / "many-guards"


def test_guards_that_take_long_at_each_call() -> None:
    (file,) = trace_files(MANY_GUARDS)
    outcome = read_recorded(file, (("/cluster/job", str(MANY_GUARDS)),)).outcome
    (slow,) = outcome.findings
    assert (slow.code, slow.place.line, slow.place.column) == ("slow-guards", 8, 5)
    assert slow.message.startswith("Checking the 2232 guards of `run` takes ")
    assert slow.hints
