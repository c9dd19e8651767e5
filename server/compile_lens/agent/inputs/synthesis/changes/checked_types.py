"""Arguments that a checker of annotations refuses: it names the parameter, whose annotation then says what to pass.

beartype: "parameter encoder='mean' violates type hint …"; typeguard: 'argument "encoder" (str) is not an instance of …'; jaxtyping: "The
problem arose whilst typechecking parameter 'encoder'"; pydantic: a line with the name, then "Input should be …".
"""

from __future__ import annotations

import copy
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from ..terms.arguments import Argument
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

MOST_VALUES = 3
_REFUSED = re.compile(
    r"\bparameter (?P<of_beartype>\w+)=.{0,200}?violates type hint"
    r"|\bargument \"?(?P<of_typeguard>\w+)\"? (?:\([^)]*\) (?:is not an instance|did not match|is not)|must be)"
    r"|typechecking parameter '(?P<of_jaxtyping>\w+)'"
    r"|^(?P<of_pydantic>\w+)\n\s+Input should be",
    re.S | re.M,
)


def with_checked_types(
    candidate: Candidate,
    error: BaseException,
    hint_of: Callable[[str], Any],
    make: Callable[[str, Any, Unknowns], Argument],
) -> Iterator[Candidate]:
    """Candidates in which the refused argument is what its annotation says: of several alternatives, each.

    ``hint_of`` gives the annotation of a parameter, None without one; ``make`` an argument for a name and an annotation.
    """
    found = _REFUSED.search(str(error))
    name = next(filter(None, found.groups()), "") if found is not None else ""
    hint, given = hint_of(name), candidate.arguments.get(name)
    if hint is None or given is None:
        return
    for each in _alternatives(hint)[:MOST_VALUES]:
        unknowns = copy.deepcopy(candidate.unknowns)
        made = make(name, each, unknowns)
        if made != given:
            yield Candidate(candidate.arguments.with_argument(name, made), unknowns)


def _alternatives(hint: Any) -> list[Any]:
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", typing.Union)):
        return [each for each in typing.get_args(hint) if each is not type(None)]
    return [hint]
