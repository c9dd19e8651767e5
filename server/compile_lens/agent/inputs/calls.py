"""Calls modules and functions of the file: with a call that the user wrote, or with synthesized inputs."""

from __future__ import annotations

import sys
import time
from types import ModuleType
from typing import Any

from ..runtime.protocol import CallMade, CallNotMade, EntryCalled
from ..runtime.wire import Wire
from . import compiled_call
from .absent import cause_of
from .dispatch import UnusableEntry
from .expressions import InvalidCall, evaluate
from .module import load
from .synthesis.search import NotFound, SearchBudget
from .synthesis.target import FoundCall, find_call

# the share of a run's time that may be spent on the search for inputs
SEARCH_SHARE = 0.6
MAX_TRIALS = 60


def run_written(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Make the call in ``plan["text"]``."""
    module = load(file, source, wire)
    compiled_call.seed()
    try:
        call = evaluate(plan["text"], vars(module))
    except InvalidCall as problem:
        raise UnusableEntry(str(problem)) from None
    wire.tell(EntryCalled((CallMade(plan["text"]),)))
    compiled_call.run(call, plan, file)


def run_synthesized(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Find calls for ``plan["targets"]``, at most ``plan["most"]``, and make them.

    Each target has ``name``, ``compile`` (see ``compiled_call.run``) and ``given``, constructor arguments from a call site; ``inputs``
    are arguments from an earlier run. A target is skipped if its ``covered_by`` names one that has run.
    ``apart``: nothing in the file says that one process calls them all.
    Where the file's own statements have compiled something when it is imported, nothing is called: the file is a script, whatever its
    text looks like, and a call that it does not make would add recompiles to it that no run of the user's has.
    """
    before = compiled_call.frames_so_far()
    module = load(file, source, wire)
    compiles_itself = any("compile" not in target for target in plan["targets"])
    if compiles_itself and compiled_call.frames_so_far() > before:
        return
    seconds = float(plan.get("seconds", 20.0))
    started = time.monotonic()
    done: list[str] = []
    failed: list[CallNotMade] = []
    for target in plan["targets"]:
        left = seconds - (time.monotonic() - started)
        if len(done) >= int(plan.get("most", 3)) or (done and left < seconds * (1 - SEARCH_SHARE)):
            break
        if any(name in done for name in target.get("covered_by", ())):
            continue
        found = _find(module, target, left, failed)
        if found is None:
            continue
        if done and plan.get("apart"):
            compiled_call.reset_compiler()
        wire.tell(EntryCalled((CallMade(found.expression, found.making, found.inputs, target["name"]),)))
        compiled_call.seed()
        call = evaluate(found.expression, vars(module))
        if compiled_call.run_all([call], target.get("compile"), file, target["name"], failed):
            done.append(target["name"])
    wire.tell(EntryCalled((), tuple(failed)))
    if not done:
        raise UnusableEntry(_why_none(failed))


def _find(module: ModuleType, target: dict[str, Any], seconds: float, failed: list[CallNotMade]) -> FoundCall | None:
    cause = _absent(module, target["name"])
    if cause is not None:
        failed.append(CallNotMade(target["name"], f"it could not be defined: {type(cause).__name__}: {cause}"))
        return None
    try:
        return find_call(
            module,
            target["name"],
            SearchBudget(MAX_TRIALS, max(seconds, 1.0)),
            target.get("given"),
            target.get("inputs"),
        )
    except AttributeError as error:
        reason = f"the imported module has no such name ({error})"
    except NotFound as error:
        reason = str(error)
    except RecursionError:
        reason = "the search reached Python's recursion limit"
    failed.append(CallNotMade(target["name"], reason))
    print(f"could not make up inputs for {target['name']}: {reason}", file=sys.stderr)
    return None


def _absent(module: ModuleType, name: str) -> BaseException | None:
    """Why the statement that defines ``name`` failed; None where it did not."""
    return cause_of(vars(module).get(name.partition(".")[0]))


def _why_none(failed: list[CallNotMade]) -> str:
    if not failed:
        return "this file has nothing to call"
    first = failed[0]
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    if first.reason.startswith("it could not be defined"):
        return f"`{first.target}`{more} {first.reason.removeprefix('it ')}"
    return f"could not make up inputs for `{first.target}`{more}: {first.reason}"
