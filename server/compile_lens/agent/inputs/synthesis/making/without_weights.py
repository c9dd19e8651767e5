"""Constructs a model without the weights that its constructor would download: `pretrained=False`, `weights=None`."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from ....runtime.missing_requirement import is_not_found
from ..terms.arguments import Argument, Expression
from ..terms.candidate import Candidate
from ..terms.parameter_info import ParameterInfo

_OF_WEIGHTS = re.compile(
    r"(?:.*_)?(?:pre_?trained|weights?|checkpoints?|ckpt|download|from_hub)(?:_.*)?|(?:load|init)_from_.*|load_.*"
)


def without_weights(candidate: Candidate, error: Exception, infos: list[ParameterInfo]) -> Iterator[Candidate]:
    """Candidates without what ``error`` did not find: all flags and names of weights off, then each alone."""
    if not any(map(is_not_found, (error, error.__cause__, error.__context__))):
        return
    off = {info.name: value for info in infos if (value := _off(info, candidate)) is not None}
    for names in (tuple(off), *((name,) for name in off if len(off) > 1)):
        arguments = candidate.arguments
        for name in names:
            arguments = arguments.with_argument(name, off[name])
        if names:
            yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def is_of_weights(name: str) -> bool:
    """Whether a parameter of this name says that weights come from elsewhere."""
    return _OF_WEIGHTS.fullmatch(name.lower()) is not None


def _off(info: ParameterInfo, candidate: Candidate) -> Argument | None:
    """What turns a parameter off; None where it is not about weights, or is off."""
    if not is_of_weights(info.name):
        return None
    given = candidate.arguments.get(info.name)
    if given is not None:
        return Expression("False" if isinstance(given, Expression) and given.text == "True" else "None")
    if info.required or info.default is None or info.default is False:
        return None
    return Expression("False" if info.default is True else "None")
