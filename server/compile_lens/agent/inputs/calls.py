"""Calls of the file's modules and functions: one that is written down, or one that is made up here."""

from __future__ import annotations

import sys
import time
from types import ModuleType
from typing import Any

from ..runtime.protocol import CallMade, CallNotMade, EntryCalled
from ..runtime.wire import Wire
from . import compiled
from .dispatch import Unusable
from .expressions import BadCall, evaluate
from .module import load
from .synthesis.search import Budget, NotFound
from .synthesis.target import Found, find_call

# of the time that a run may take, the share that may go into looking for inputs
SHARE = 0.6
TRIALS = 60


def run_written(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Make the call in ``plan["text"]``."""
    module = load(file, source)
    compiled.seed()
    try:
        call = evaluate(plan["text"], vars(module))
    except BadCall as problem:
        raise Unusable(str(problem)) from None
    wire.tell(EntryCalled((CallMade(plan["text"]),)))
    compiled.run(call, plan, file)


def run_synthesized(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Find calls for ``plan["targets"]``, as many as may be run, and make them.

    Each target has ``name``, ``compile`` (see ``compiled.run``) and ``given``, constructor arguments seen at a call site; ``inputs`` are
    arguments that an earlier run had. A target whose ``covered_by`` names one that has run already is left out.
    ``apart``: the file does not say that one process calls them all.
    """
    module = load(file, source)
    seconds = float(plan.get("seconds", 20.0))
    started = time.monotonic()
    done: list[str] = []
    failed: list[CallNotMade] = []
    for target in plan["targets"]:
        left = seconds - (time.monotonic() - started)
        if len(done) >= int(plan.get("most", 3)) or (done and left < seconds * (1 - SHARE)):
            break
        if any(name in done for name in target.get("covered_by", ())):
            continue
        found = _find(module, target, left, failed)
        if found is None:
            continue
        if done and plan.get("apart"):
            compiled.begin_anew()
        done.append(target["name"])
        wire.tell(EntryCalled((CallMade(found.expression, found.making, found.inputs, target["name"]),)))
        compiled.seed()
        compiled.run(evaluate(found.expression, vars(module)), target, file)
    wire.tell(EntryCalled((), tuple(failed)))
    if not done:
        raise Unusable(_nothing(failed))


def _find(module: ModuleType, target: dict[str, Any], seconds: float, failed: list[CallNotMade]) -> Found | None:
    try:
        return find_call(
            module, target["name"], Budget(TRIALS, max(seconds, 1.0)), target.get("given"), target.get("inputs")
        )
    except AttributeError as error:
        reason = f"the module has no such name when it is imported ({error})"
    except NotFound as error:
        reason = str(error)
    except RecursionError:
        reason = "it is too deep"
    failed.append(CallNotMade(target["name"], reason))
    print(f"no inputs were found for {target['name']}: {reason}", file=sys.stderr)
    return None


def _nothing(failed: list[CallNotMade]) -> str:
    if not failed:
        return "there is nothing to call in this file"
    first = failed[0]
    more = f" (and for {len(failed) - 1} more)" if len(failed) > 1 else ""
    return f"no inputs were found for {first.target}{more}: {first.reason}"
