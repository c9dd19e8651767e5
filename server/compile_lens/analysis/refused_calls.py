"""Calls that the sandbox of a background run refused, at the user's line that made them, and what would allow them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.missing_weights import find_missing_weights
from compile_lens.analysis.run_context import ARGUMENTS, Raised, RefusedCall, RunContext
from compile_lens.analysis.sources import Sources

# in the exception that a refused call raises (agent/sandbox/calls.py)
WORDS = "a background run may not do this (Compile Lens)"
# what native code makes of a refusal: the words of the C library, and of torch's writer of files
NATIVE_WRITE = re.compile(
    r"Read-only file system|open file failed|File .* cannot be opened|can't create|unable to open file"
    r"|Value too large for defined data type"
)
NATIVE_ERRORS = ("RuntimeError", "OSError", "PermissionError", "AssertionError")
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


def find_refused(context: RunContext) -> Iterator[Finding]:
    """One finding per line and kind of call: an error where it ended the program, else information."""
    sources, raised = context.sources, context.raised
    groups: dict[tuple[Place, str], list[RefusedCall]] = {}
    for call in context.refused:
        groups.setdefault((sources.own_place(call.stack), call.what), []).append(call)
    ended_by = _ended_by(context)
    # a line whose weights are missing has a finding that says so
    substituted = {finding.place for finding in find_missing_weights(context)} if groups else set()
    for (place, what), calls in groups.items():
        last = calls[-1]
        fatal = ended_by is not None and any(call is ended_by for call in calls)
        if what == "network" and not fatal and place in substituted:
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
    if raised is not None and ended_by is None and (native := _in_native_code(context)) is not None:
        yield _native_finding(raised, *native, sources)


def _needs(raised: Raised | None) -> str:
    """What the program wanted by the call, where it says so: weights, a data set."""
    missing = raised.missing if raised is not None else None
    return (
        f"The program needs {missing.words}, which is not here. "
        if missing is not None and missing.what != ARGUMENTS
        else ""
    )


def is_refusal(context: RunContext) -> bool:
    """Whether the exception that ended the program comes from a blocked call, so that it is no finding of its own."""
    return _ended_by(context) is not None or _in_native_code(context) is not None


def _in_native_code(context: RunContext) -> tuple[str, str] | None:
    """What native code was not allowed to do, in its own words, and the message; None for another exception."""
    raised = context.raised
    if not context.sandboxed or raised is None or raised.module != "builtins" or raised.type not in NATIVE_ERRORS:
        return None
    if context.without_gpu and NO_GPU.search(raised.message):
        return "gpu", "This line needs a GPU; background runs have none."
    if NATIVE_WRITE.search(raised.message):
        first = raised.message.strip().partition("\n")[0]
        return "write", f"This line writes where a background run may not: {first}"
    return None


def _native_finding(raised: Raised, what: str, message: str, sources: Sources) -> Finding:
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


def _ended_by(context: RunContext) -> RefusedCall | None:
    raised, refused = context.raised, context.refused
    if raised is None or WORDS not in raised.formatted:
        return None
    named = [call for call in refused if repr(call.target) in raised.formatted]
    return named[-1] if named else refused[-1] if refused else None


def _shown(target: str, main_file: str) -> str:
    """A path below the program's folder as the program would say it."""
    folder = os.path.dirname(main_file) + os.sep  # noqa: PTH120 - text of another machine
    return target.removeprefix(folder)
