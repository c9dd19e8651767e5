"""A call to find arguments for, as a search needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .arguments import Argument, Arguments
from .candidate import Candidate
from .dimensions import Unknowns
from .parameter_info import ParameterInfo


@dataclass(frozen=True, slots=True)
class CallProblem:
    """A call to find arguments for.

    ``symbolic`` makes it with a function from an unknown's name to its size; ``real`` makes it with real tensors. ``offer`` returns an
    argument for a parameter that has none yet, with its sizes among the unknowns, or None if there is no such parameter; what is known
    of it from elsewhere is for one that the call does not declare. ``guess`` returns one
    for something that is read of an argument, and ``read`` what the source shows to be read of a parameter. ``names`` are the parameters;
    ``make`` constructs a class, and ``others`` are candidates for its errors alone. ``called`` is the text before the arguments,
    and ``open_parts`` are attributes of the object that its constructor can be given and was not;
    ``kept`` are those that it was given. ``optional`` are parameters that may be tensors, and are None by default.
    """

    symbolic: Callable[[Arguments, Callable[[str], Any]], object]
    real: Callable[[str], object]
    offer: Callable[[str, Unknowns, ParameterInfo | None], Argument | None]
    guess: Callable[[str, Unknowns], Argument] | None = None
    read: Callable[[str], tuple[str, ...]] = lambda name: ()
    names: frozenset[str] = frozenset()
    make: Callable[[type, Unknowns], Argument] | None = None
    others: Callable[[Candidate, Exception], Iterator[Candidate]] | None = None
    called: str = ""
    open_parts: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    optional: tuple[str, ...] = ()
