"""Calls of a class with the optional arguments that its project passes, where these demand other inputs than a plain call has."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType

from ..runtime.foreign_code import attempted
from .calling.memory import bounded
from .calling.time_limit import at_most
from .synthesis.making.object_calls import FoundCall
from .synthesis.making.other_settings import OtherSetting
from .synthesis.project.written_settings import ChosenArguments, written_calls
from .synthesis.target import call_with
from .synthesis.trying.search import SearchBudget

# seconds of processor time for the inputs of one call, and of all
CALL_S, ALL_S = 3.0, 8.0
MAX_TRIALS = 40


def as_project_writes(
    module: ModuleType, name: str, plain: FoundCall, memory: int, is_late: Callable[[], bool]
) -> Iterator[OtherSetting]:
    """Calls of the class ``name`` as the project constructs it, with inputs that are searched for them; with one of its arguments, where no
    inputs are found for all. Nothing where ``plain``, the call that is known, is not one of the class itself."""
    cls = vars(module).get(name)
    is_of_class = plain.method == "forward" and plain.candidate is not None and plain.making.startswith(f"{name}(")
    if not isinstance(cls, type) or not is_of_class:
        return
    end = time.thread_time() + ALL_S
    for call in attempted(lambda: written_calls(module, cls)) or ():
        if is_late() or time.thread_time() > end:
            return
        whole = _with_inputs(module, name, call, plain, memory)
        if whole is not None:
            yield whole
            continue
        for part in call.parts():
            if is_late() or time.thread_time() > end:
                return
            found = _with_inputs(module, name, part, plain, memory)
            if found is not None:
                yield found


def _with_inputs(
    module: ModuleType, name: str, call: ChosenArguments, plain: FoundCall, memory: int
) -> OtherSetting | None:
    if all(f"{each}={text}" in plain.making for each, text in call.chosen.items()):
        return None
    try:
        with bounded(memory), at_most(CALL_S + 2.0):
            found = call_with(module, name, call.given, SearchBudget(MAX_TRIALS, CALL_S))
    except (Exception, SystemExit) as error:  # code of the user's, which the search calls, may raise anything
        print(f"{name} with {call.phrase}: {error}", file=sys.stderr)
        return None
    return OtherSetting(call.phrase, found.expression)
