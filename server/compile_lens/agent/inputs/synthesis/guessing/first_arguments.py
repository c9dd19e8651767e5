"""The arguments with which a search for a constructor call begins: what is required, what a call site shows, smaller defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType

from ..source.constructor_parameters import constructor, constructor_parameters
from ..source.delegation import accepts_names
from ..source.needed_parameters import is_needed
from ..terms.arguments import Argument, Arguments, Expression
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import positional_names
from .any_number import any_number_of, item_of
from .argument_guesser import ArgumentGuesser
from .smaller_defaults import smaller_defaults


def first_candidates(module: ModuleType, cls: type, given: Mapping[str, str]) -> Iterator[Candidate]:
    """First arguments for a constructor: the required ones, with one candidate per size of a configuration or of the defaults."""
    infos = constructor_parameters(cls)
    positional = positional_names(infos)
    required = [info for info in infos if info.required or is_needed(info)]
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    if given:
        yield from written_candidates(module, cls, given)
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


def written_candidates(module: ModuleType, cls: type, given: Mapping[str, str]) -> Iterator[Candidate]:
    """The arguments ``given`` of a call site, with fewer of what comes many times; then exactly so."""
    infos = constructor_parameters(cls)
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    known = {info.name for info in infos}
    takes_any = accepts_names(constructor(cls))
    from_call_site = {n: Expression(v) for n, v in given.items() if n in known or takes_any}
    required = [info for info in infos if info.required or is_needed(info)]
    rest = {info.name: guesser.for_constructor(cls, info)[0] for info in required if info.name not in from_call_site}
    written = {**rest, **from_call_site}
    for smaller in smaller_defaults([info for info in infos if not info.required], given):
        yield Candidate(Arguments(tuple({**written, **dict(smaller)}.items()), positional_names(infos)), unknowns)


def _with_any_number(
    cls: type, named: tuple[tuple[str, Argument], ...], unknowns: Unknowns, guesser: ArgumentGuesser
) -> Iterator[Candidate]:
    """One more argument, or two, where a constructor takes any number of them: `Reshape(*sizes)`, `Chain(*layers)`, `Widths(*widths)`."""
    name = any_number_of(cls)
    all_named = named
    for written in (name, f"{name}_1") if name else ():
        all_named = (*all_named, (written, item_of(cls, name, guesser)))
        yield Candidate(Arguments(all_named, tuple(each for each, _ in all_named)), unknowns)
