"""Optional arguments that a project passes to a constructor: in its other files, tests, examples, pages and the docstring, written out.

A call that is made up passes what the constructor requires. Who uses the class passes more (`Block(8, norm=nn.BatchNorm1d(8))`), and
that is what runs the lines behind `if norm is not None`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from ..source.constructor_parameters import constructor_parameters
from ..terms.parameter_info import ParameterInfo
from .project_calls import written_arguments

# calls whose arguments are read, and arguments that belong together
MOST_READ, MOST_TOGETHER = 12, 4
# calls for which inputs of their own are found
MOST_CALLS = 2
# characters of a setting, which a sentence names
LONGEST = 120


def written_settings(module: ModuleType, cls: type) -> Iterator[dict[str, str]]:
    """Optional arguments of ``cls`` that its project passes, as expressions with the names of ``module``.

    Each comes alone, then those of one call together, if there are few; those of the nearest calls first, and no two are the same.
    """
    infos = {info.name: info for info in constructor_parameters(cls)}
    alone: dict[str, dict[str, str]] = {}
    together: dict[str, dict[str, str]] = {}
    for _, given in zip(range(MOST_READ), written_arguments(module, cls), strict=False):
        chosen = {name: text for name, text in given.items() if _is_chosen(infos.get(name), text)}
        for name, text in chosen.items():
            alone.setdefault(f"{name}={text}", {name: text})
        if 1 < len(chosen) <= MOST_TOGETHER:
            together.setdefault(str(sorted(chosen.items())), chosen)
    for each in (*alone.values(), *together.values()):
        if sum(map(len, each.values())) <= LONGEST:
            yield each


@dataclass(frozen=True, slots=True)
class ChosenArguments:
    """All arguments of a call of a constructor in the project, and those of them that a plain call leaves out."""

    given: dict[str, str]
    chosen: dict[str, str]

    @property
    def phrase(self) -> str:
        """What the call chooses, as the user would write it."""
        return ", ".join(f"{name}={text}" for name, text in self.chosen.items())

    def parts(self) -> Iterator[ChosenArguments]:
        """Calls that choose one of several things alone."""
        for name, text in self.chosen.items() if len(self.chosen) > 1 else ():
            rest = {each: value for each, value in self.given.items() if each not in self.chosen}
            yield ChosenArguments({**rest, name: text}, {name: text})


def written_calls(module: ModuleType, cls: type) -> list[ChosenArguments]:
    """Calls of ``cls`` in its project that choose something, those that choose most first; none that chooses only what those before do."""
    infos = {info.name: info for info in constructor_parameters(cls)}
    required = {name for name, info in infos.items() if info.required}
    calls: list[ChosenArguments] = []
    for _, given in zip(range(MOST_READ), written_arguments(module, cls), strict=False):
        names = [name for name, text in given.items() if _is_chosen(infos.get(name), text)]
        if required <= given.keys() and names:
            calls.append(ChosenArguments(given, {name: given[name] for name in names}))
    found: list[ChosenArguments] = []
    known: set[tuple[str, str]] = set()
    for call in sorted(calls, key=lambda each: -len(each.chosen)):
        if not call.chosen.items() <= known and len(call.phrase) <= LONGEST:
            known |= call.chosen.items()
            found.append(call)
    return found[:MOST_CALLS]


def _is_chosen(info: ParameterInfo | None, text: str) -> bool:
    """Whether ``text`` is another value than the default of an optional parameter."""
    return info is not None and not info.required and text not in (repr(info.default), "None")
