"""Calls that the sandbox of a background run refused, at the user's line that made them, and what would allow them."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.missing_requirements import ARGUMENTS
from compile_lens.analysis.run_errors import Raised
from compile_lens.analysis.sources import Sources
from compile_lens.trace.report import StackFrame

# in the exception that a refused call raises (agent/sandbox/calls.py)
WORDS = "blocked by the Compile Lens sandbox"
# what native code makes of a refusal: the words of the C library, and of torch's writer of files
NATIVE_WRITE = re.compile(
    r"Read-only file system|open file failed|File .* cannot be opened|can't create|unable to open file"
    r"|Value too large for defined data type"
)
NO_GPU = re.compile(
    r"No CUDA GPUs are available|Found no NVIDIA driver|No HIP GPUs are available|no CUDA-capable device"
)
WITHOUT = "Run the file without the sandbox yourself: `compile-lens check --no-sandbox`."
ALLOW = {
    "write": "Allow the folder with `--allow-write`, or the setting `compileLens.sandbox.allowWrite`.",
    "network": "Allow the network with `--allow-network`, or the setting `compileLens.sandbox.network`.",
    "gpu": "Allow GPUs with the setting `compileLens.sandbox.gpu`.",
}
MAY_NOT = {
    "write": "a background run may not",
    "read": "a background run may not, since it is where secrets are kept",
    "network": "a background run has no network",
    "process": "a background run may not",
}


@dataclass(frozen=True, slots=True)
class Refused:
    """One refused call. ``what`` is ``write``, ``read``, ``network`` or ``process``; ``does`` is a verb for ``target``.

    ``stack`` is the call's, outermost first.
    """

    what: str
    does: str
    target: str
    stack: tuple[StackFrame, ...]


def find_refused(
    refused: Sequence[Refused], raised: Raised | None, sources: Sources, absent: Container[Place] = ()
) -> Iterator[Finding]:
    """One finding per line and kind of call: an error where it ended the program, else information.

    ``absent`` are lines of which it is told that what they would fetch is not here: that says it.
    """
    groups: dict[tuple[Place, str], list[Refused]] = {}
    for call in refused:
        groups.setdefault((sources.own_place(call.stack), call.what), []).append(call)
    ended_by = _ended_by(refused, raised)
    for (place, what), calls in groups.items():
        last = calls[-1]
        fatal = ended_by is not None and any(call is ended_by for call in calls)
        if what == "network" and not fatal and place in absent:
            continue
        after = "What comes after this line was not run, so it was not analysed." if fatal else "The program went on."
        more = len({call.target for call in calls}) - 1
        needs = _needs(raised) if fatal else ""
        others = f" and {more} more" if more else ""
        yield Finding(
            code=f"denied-{what}",
            kind=Kind.REFUSED,
            severity=Severity.ERROR if fatal else Severity.INFORMATION,
            message=f"{needs}This line {last.does} `{_shown(last.target, sources.main_file)}`{others}; {MAY_NOT[what]}.",
            place=place,
            explanation=after,
            hints=tuple(hint for hint in (ALLOW.get(what), WITHOUT) if hint),
            count=len(calls),
            call_path=call_path(last.stack, sources),
        )


def _needs(raised: Raised | None) -> str:
    """What the program wanted by the call, where it says so: weights, a data set."""
    lacks = raised.lacks if raised is not None else None
    return (
        f"The program needs {lacks.words}, which is not here. " if lacks is not None and lacks.what != ARGUMENTS else ""
    )


def refused_in_native_code(raised: Raised, sources: Sources, without_gpu: bool) -> Finding | None:
    """The finding for an exception in which native code tells of a refusal in its own words; None for another exception."""
    if raised.module != "builtins" or raised.type not in (
        "RuntimeError",
        "OSError",
        "PermissionError",
        "AssertionError",
    ):
        return None
    first = raised.message.strip().partition("\n")[0]
    if without_gpu and NO_GPU.search(raised.message):
        what, message = "gpu", "This line needs a GPU; background runs have none."
    elif NATIVE_WRITE.search(raised.message):
        what, message = "write", f"This line writes where a background run may not: {first}"
    else:
        return None
    return Finding(
        code=f"denied-{what}",
        kind=Kind.REFUSED,
        severity=Severity.ERROR,
        message=message,
        place=sources.own_place(raised.stack),
        explanation="What comes after this line was not run, so it was not analysed.",
        hints=(ALLOW[what], WITHOUT),
        call_path=call_path(raised.stack, sources),
        detail=raised.formatted,
    )


def is_told(refused: Sequence[Refused], raised: Raised | None) -> bool:
    """Whether the exception that ended the program is one of the refusals, so that it is no finding of its own."""
    return _ended_by(refused, raised) is not None


def _ended_by(refused: Sequence[Refused], raised: Raised | None) -> Refused | None:
    if raised is None or WORDS not in raised.formatted:
        return None
    named = [call for call in refused if repr(call.target) in raised.formatted]
    return named[-1] if named else refused[-1] if refused else None


def _shown(target: str, main_file: str) -> str:
    """A path below the program's folder as the program would say it."""
    folder = os.path.dirname(main_file) + os.sep  # noqa: PTH120 - text of another machine
    return target.removeprefix(folder)
