"""Says why a search for inputs ended without a call, where no call of the program's failed for it: a limit, an end, or an error of ours."""

from __future__ import annotations

import traceback

from .. import OWN_FOLDER
from .calling.time_limit import TrialTooLong
from .importing.module import NoSuchName
from .synthesis.errors.failing_lines import failing_place
from .synthesis.trying.search import sentence_of
from .synthesis.trying.trial import ended_with

KILLED = "the process that searched for its inputs exited early"
SEARCH_ENDED = "the search for its inputs ended early"
OWN_FAILURE = "the search for its inputs failed for a reason outside this file"


def why_ended(error: BaseException) -> tuple[str, BaseException | None]:
    """The reason that is told of a search which ``error`` ended, and ``error`` where it says something of a call. What nobody expected is
    printed."""
    if isinstance(error, TrialTooLong):
        return str(error), None
    if isinstance(error, NoSuchName):
        return f"the imported module has no such name ({error})", None
    if isinstance(error, RecursionError):
        return "the search reached Python's recursion limit", None
    if isinstance(error, SystemExit):
        return str(ended_with(error)), error
    traceback.print_exception(error)
    if failing_place(error)[0].startswith(OWN_FOLDER):  # nothing of the program's is wrong
        return OWN_FAILURE, None
    return f"{SEARCH_ENDED}: {sentence_of(error)}", error
