"""An object with a shape in the place of the shape: spaces of observations and actions, specifications of data (`space.shape[0]`)."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator

from ..errors.failing_lines import names_in_failing_lines
from ..terms.arguments import INSIDE, Argument, Expression, Fields, Group
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

_NO_ATTRIBUTE = re.compile(r"'(?P<kind>tuple|list)' object has no attribute '(?P<name>\w+)'")
# what is as long as a space has dimensions
_OF_SHAPE = frozenset({"shape", "size", "dims", "low", "high", "nvec"})


def with_object_of_shape(
    candidate: Candidate, error: BaseException, guess: Callable[[str, Unknowns], Argument]
) -> Iterator[Candidate]:
    """Candidates in which several numbers are an object that has the attribute which ``error`` says they lack: as its shape, if it is read
    as one. Those in the failing line alone."""
    lacking = _NO_ATTRIBUTE.search(str(error)) if isinstance(error, AttributeError) else None
    if lacking is None or hasattr(list, lacking["name"]) or hasattr(dict, lacking["name"]):
        return  # what has a method of lists or of dictionaries is one
    in_line = names_in_failing_lines(error)
    several: list[tuple[str, Argument]] = [*candidate.arguments.groups(), *candidate.arguments.plain()]
    for path, each in several:
        is_written = isinstance(each, Expression) and each.text[:1] in "(["
        if path.rpartition(INSIDE)[2] in in_line and (isinstance(each, Group) or is_written):
            unknowns = copy.deepcopy(candidate.unknowns)
            value = each if lacking["name"] in _OF_SHAPE else guess(lacking["name"], unknowns)
            made = Fields(((lacking["name"], value),))
            yield Candidate(candidate.arguments.with_argument(path, made), unknowns)
