"""Decides whether a run failed in the emulated CUDA device, and which outcome counts once the program was run again without it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.run_context import Raised
from compile_lens.trace.stand_ins import StandIn
from compile_lens.workers.job import End, EndKind

EMULATED = "emulated"  # the note before a device is emulated (agent/substitutes/enable.py)
LONGEST_MESSAGE = 200
ON_A_GPU = "The emulated device may lack what the program uses. Analyze the program on a machine with a GPU, or a trace from there."


def emulation_failure(stand_ins: Sequence[StandIn], raised: Raised | None, end: End | None) -> str:
    """How the device failed, as a clause: the process died in native code, or code for GPUs raised. '' where it did not fail."""
    if not any(one.what == EMULATED for one in stand_ins):
        return ""
    if end is not None and end.kind is EndKind.SIGNALLED:
        return f"the program crashed on the emulated device (signal {end.code})"
    if raised is not None and raised.of_device:
        return f"the emulated device raised {_words(raised.type, raised.message)}"
    return ""


def better_of(emulated: Outcome, without: Outcome) -> Outcome:
    """The outcome that knows more. ``without`` may lack everything that comes after the first use of a GPU.

    After a crash, that is the run that did not crash; after an exception, the run that came to its end.
    """
    if emulated.status is Status.KILLED:
        return emulated if without.status is Status.KILLED else without
    if without.status is Status.OK:
        return without
    note = "The emulated CUDA device may be the cause of this program's error. Without it, the program fails here, too."
    found = tuple(_doubted(finding) if finding.kind is Kind.RUN_ERROR else finding for finding in emulated.findings)
    return replace(emulated, findings=found, notes=(*emulated.notes, note))


def _doubted(finding: Finding) -> Finding:
    """An error that a program may not have on a GPU."""
    raised = f"{finding.message[:1].lower()}{finding.message[1:]}"
    return replace(finding, message=f"On the emulated CUDA device, {raised}", hints=(*finding.hints, ON_A_GPU))


def _words(kind: str, message: str) -> str:
    first = message.strip().partition("\n")[0][:LONGEST_MESSAGE]
    return f"{kind}: {first}" if first else kind
