"""The arguments with which a search for a constructor call begins: what is required, what a call site shows, smaller defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType

from ...runtime.foreign_code import attempted
from .argument_guesser import ArgumentGuesser, is_needed
from .arguments import Argument, Arguments, Expression, UnknownInteger
from .candidate import Candidate
from .constructor_parameters import constructor, constructor_parameters
from .delegation import accepts_names
from .dimensions import Unknowns
from .guesses import MAKERS, by_name
from .parameter_info import positional_names
from .smaller_defaults import smaller_defaults

# parameters that say nothing of what they take
_OF_ANYTHING = re.compile(r"_*(?:a|args|arguments|params|inputs)")


def first_candidates(module: ModuleType, cls: type, given: Mapping[str, str]) -> Iterator[Candidate]:
    """First arguments for a constructor: the required ones, with one candidate per size of a configuration or of the defaults."""
    infos = constructor_parameters(cls)
    positional = positional_names(infos)
    required = [info for info in infos if info.required or is_needed(info)]
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    if given:
        known = {info.name: info for info in infos}
        takes_any = accepts_names(constructor(cls))
        from_call_site = {n: Expression(v) for n, v in given.items() if n in known or takes_any}
        rest = {
            info.name: guesser.for_constructor(cls, info)[0] for info in required if info.name not in from_call_site
        }
        written = {**rest, **from_call_site}
        # as the call site has it, with fewer of what comes many times; then exactly so
        for smaller in smaller_defaults([info for info in infos if not info.required], given):
            yield Candidate(Arguments(tuple({**written, **dict(smaller)}.items()), positional), unknowns)
    options = [guesser.for_constructor(cls, info) for info in required]
    optional = [info for info in infos if not info.required and info.name not in given]
    if not any(len(option) > 1 for option in options):
        named = tuple((info.name, option[0]) for info, option in zip(required, options, strict=True))
        for smaller in smaller_defaults(optional, {}):
            yield Candidate(Arguments((*named, *smaller), positional), unknowns)
        yield from _with_any_number(cls, named, unknowns, guesser)
        return
    for index in range(max((len(option) for option in options), default=1)):
        named = tuple(
            (info.name, option[min(index, len(option) - 1)]) for info, option in zip(required, options, strict=True)
        )
        yield Candidate(Arguments(named, positional), unknowns)


def _with_any_number(
    cls: type, named: tuple[tuple[str, Argument], ...], unknowns: Unknowns, guesser: ArgumentGuesser
) -> Iterator[Candidate]:
    """One more argument, where a constructor takes any number of them: `Reshape(*sizes)`, `Chain(*layers)`, `Track(*effects)`.

    One that takes any names as well, and whose parameter has no name of its own, passes them on.
    """
    parameters = attempted(lambda: inspect.signature(constructor(cls)).parameters.values()) or ()
    for parameter in parameters:
        if parameter.kind is not parameter.VAR_POSITIONAL:
            continue
        if accepts_names(constructor(cls)) and _OF_ANYTHING.fullmatch(parameter.name):
            return
        name = parameter.name.rstrip("s")
        made, alike = by_name(MAKERS, name), guesser.class_called(name)
        item: Argument = (
            UnknownInteger(unknowns.get(f"{parameter.name}=", 64).name) if made is None else Expression(made)
        )
        if made is None and alike is not None and alike is not cls:
            item = guesser.constructed(alike, without=cls)
        all_named = (*named, (parameter.name, item))
        yield Candidate(Arguments(all_named, tuple(name for name, _ in all_named)), unknowns)
