"""Turns calls that the sandbox blocked into findings, at the user's line, with what would allow them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec.structs import replace

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import ENDED_HERE, SKIPPED, Finding, Kind, Place, Severity
from compile_lens.analysis.missing_data import find_missing_data
from compile_lens.analysis.missing_weights import find_missing_weights
from compile_lens.analysis.run_context import ARGUMENTS, Raised, RaisedBeside, RefusedCall, RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.wording import and_more

CONTINUED = "The program continued."
# in the exception that a blocked call raises (agent/sandbox/calls.py)
WORDS = "blocked by the Compile Lens sandbox"
# how native code reports a blocked call: the words of the C library, and of torch's file writer
NATIVE_WRITE = pattern(
    r"Read-only file system|open file failed|File .{0,999} cannot be opened|can't create|unable to open file"
    r"|Value too large for defined data type"
)
# … and a connection where there is no network: the C library, and libraries that wrap the error or are told to work offline
NATIVE_CONNECTION = pattern(
    r"Network is unreachable|Connection refused|No route to host|Temporary failure in name resolution|Name or service not known"
    r"|nodename nor servname|Failed to resolve|Could not resolve host|Max retries exceeded with url|outgoing traffic has been disabled"
    r"|[Oo]ffline mode is enabled|Couldn't (?:connect to|reach) "
)
NATIVE_ERRORS = ("RuntimeError", "OSError", "PermissionError", "AssertionError")
NO_GPU = pattern(r"No CUDA GPUs are available|Found no NVIDIA driver|No HIP GPUs are available|no CUDA-capable device")
WITHOUT = "Run the file without the sandbox: `compile-lens check --no-sandbox`."
ALLOW = {
    "write": "Allow the folder with `--allow-write` or the setting `compileLens.sandbox.allowWrite`.",
    "network": "Allow network access with `--allow-network` or the setting `compileLens.sandbox.network`.",
    "gpu": "Allow GPUs with the setting `compileLens.sandbox.gpu`.",
}
# no folder of a user's: what the kernel shows there is of the machine and of other processes, and stays read-only
OF_THE_KERNEL = ("/proc/", "/sys/", "/dev/")
# the verbs of agent/sandbox/calls.py as nouns
BLOCKED = {
    "writes": "a write to",
    "deletes": "the deletion of",
    "creates": "the creation of",
    "renames": "the renaming of",
    "links": "a link at",
    "truncates": "the truncation of",
    "reads": "a read of",
    "connects to": "a connection to",
    "listens on": "listening on",
    "looks up": "a lookup of",
    "opens": "the opening of",
    "starts": "the start of",
    "sends a signal to": "a signal to",
    "joins the group of": "joining the process group of",
    "runs code in": "code that would run in",
    "has arguments that cannot be checked in": "a call whose arguments cannot be checked:",
}

ABSENT = (find_missing_weights, find_missing_data)


def find_refused(context: RunContext) -> Iterator[Finding]:
    """One finding per line and kind of call: an error where it ended the program, else information."""
    sources, raised = context.sources, context.raised
    groups: dict[tuple[Place, str], list[RefusedCall]] = {}
    for call in context.refused:
        groups.setdefault((sources.own_place(call.stack), call.what), []).append(call)
    ended_by = _refused_in(raised, context)
    skipped = [_refused_in(beside.raised, context) for beside in context.raised_aside if _is_of_statement(beside)]
    # a line whose weights or data are missing has a finding that says so
    substituted = {finding.place for find in ABSENT for finding in find(context)} if groups else set()
    for (place, what), calls in groups.items():
        last = calls[-1]
        fatal = ended_by is not None and any(call is ended_by for call in calls)
        if what == "network" and not fatal and place in substituted:
            continue
        is_skipped = any(call is other for call in calls for other in skipped)
        after = ENDED_HERE if fatal else SKIPPED if is_skipped else CONTINUED
        needs = _needs(raised) if fatal else ""
        others = and_more(len({call.target for call in calls}) - 1)
        yield Finding(
            code=f"denied-{what}",
            kind=Kind.REFUSED,
            severity=Severity.ERROR if fatal else Severity.INFORMATION,
            message=f"{needs}Sandbox: blocked {_blocked(last, sources.main_file)}{others}.",
            place=place,
            explanation=after,
            hints=tuple(hint for hint in (_what_allows(what, calls), WITHOUT) if hint),
            count=len(calls),
            call_path=call_path(last.stack, sources),
            targets=tuple(dict.fromkeys(call.target for call in calls)),
        )
    if raised is not None and ended_by is None and (native := _in_native_code(raised, context)) is not None:
        yield _native_finding(raised, *native, sources)
    for beside in context.raised_aside:
        native = _in_native_code(beside.raised, context)
        if native is not None and _refused_in(beside.raised, context) is None:
            after = SKIPPED if _is_of_statement(beside) else CONTINUED
            finding = _native_finding(beside.raised, *native, sources)
            yield replace(finding, severity=Severity.INFORMATION, explanation=after)


def _what_allows(what: str, calls: list[RefusedCall]) -> str | None:
    if what == "write" and all(call.target.startswith(OF_THE_KERNEL) for call in calls):
        return None
    return ALLOW.get(what)


def _needs(raised: Raised | None) -> str:
    """What the program needed the call for, where it says so: weights, a dataset."""
    missing = raised.missing if raised is not None else None
    return (
        f"The program needs {missing.words}, which is not on this machine. "
        if missing is not None and missing.what != ARGUMENTS
        else ""
    )


def is_refusal(raised: Raised, context: RunContext) -> bool:
    """Whether an exception comes from a blocked call, so that it is no finding of its own."""
    return _refused_in(raised, context) is not None or _in_native_code(raised, context) is not None


def _is_of_statement(beside: RaisedBeside) -> bool:
    """Whether it ended a statement, and not a thread or an exit function."""
    return beside.where not in ("thread", "atexit")


def _in_native_code(raised: Raised, context: RunContext) -> tuple[str, str] | None:
    """What native code was not allowed to do, and the message; None for another exception."""
    if not context.sandboxed:
        return None
    if context.without_network and (refused := NATIVE_CONNECTION.search(raised.message)):
        lines = raised.message.strip().splitlines()
        said = next((line.strip() for line in lines if refused[0] in line), refused[0])
        return "network", f"Sandbox: blocked a connection: {said.rstrip('.')}."
    if raised.module != "builtins" or raised.type not in NATIVE_ERRORS:
        return None
    if context.without_gpu and NO_GPU.search(raised.message):
        return "gpu", "Sandbox: blocked access to GPUs, which this line needs."
    if NATIVE_WRITE.search(raised.message):
        first = raised.message.strip().partition("\n")[0]
        return "write", f"Sandbox: blocked a write: {first}"
    return None


def _native_finding(raised: Raised, what: str, message: str, sources: Sources) -> Finding:
    return Finding(
        code=f"denied-{what}",
        kind=Kind.REFUSED,
        severity=Severity.ERROR,
        message=message,
        place=sources.own_place(raised.stack),
        explanation=ENDED_HERE,
        hints=(ALLOW[what], WITHOUT),
        call_path=call_path(raised.stack, sources),
        detail=raised.formatted,
    )


def _refused_in(raised: Raised | None, context: RunContext) -> RefusedCall | None:
    """The blocked call that ``raised`` comes from."""
    refused = context.refused
    if raised is None or WORDS not in raised.formatted:
        return None
    named = [call for call in refused if repr(call.target) in raised.formatted]
    return named[-1] if named else refused[-1] if refused else None


def _blocked(call: RefusedCall, main_file: str) -> str:
    """``a write to `model.pt` ``."""
    noun = BLOCKED.get(call.does, f"a call that {call.does}")
    secret = ", which may contain secrets" if call.what == "read" else ""
    return f"{noun} `{_as_program_names_it(call.target, main_file)}`{secret}"


def _as_program_names_it(target: str, main_file: str) -> str:
    """A path below the program's folder as the program would say it."""
    folder = os.path.dirname(main_file) + os.sep  # noqa: PTH120 - text of another machine
    return target.removeprefix(folder)
