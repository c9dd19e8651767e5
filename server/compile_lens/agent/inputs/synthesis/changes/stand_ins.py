"""Models in place of a placeholder that changes nothing: what wraps any model works with one that takes its kind of input."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ..terms.arguments import INSIDE, Argument, Expression, Fields
from ..terms.candidate import Candidate
from .other_values import ANY_MODULE, SMALL_MODEL

_TOKENS = "torch.nn.Sequential(torch.nn.Embedding(256, 64), torch.nn.Linear(64, {outputs}))"
_IMAGES = (
    "torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), "
    "torch.nn.Linear(8, {outputs}))"
)
# those of which each item gets one number
_OF_ONE_NUMBER = re.compile(r"(?:.*_)?(?:discriminator|critic|reward|value|score|disc)(?:_?(?:net|model|fn))?")
_KINDS = ((_TOKENS, 256), (_IMAGES, 10), (SMALL_MODEL, 64))


def with_stand_ins(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates of a constructor in which each placeholder for a module is a model of tokens, of images, or of rows of numbers."""
    places = list(_placeholders(candidate))
    for text, outputs in _KINDS if places else ():
        arguments = candidate.arguments
        for path, each in places:
            name = path.rpartition(INSIDE)[2]
            model = text.format(outputs=1 if _OF_ONE_NUMBER.fullmatch(name) else outputs)
            changed = replace(each, base=model) if isinstance(each, Fields) else Expression(model)
            arguments = arguments.with_argument(path, changed)
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns))


def with_model(candidate: Candidate, model: str) -> Iterator[Candidate]:
    """The candidate with ``model`` in place of the placeholder for a module, where there is one."""
    places = list(_placeholders(candidate))
    if len(places) == 1:
        arguments = candidate.arguments.with_argument(places[0][0], Expression(model))
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns))


def has_placeholders(candidate: Candidate) -> bool:
    """Whether a module that changes nothing is passed."""
    return any(True for _ in _placeholders(candidate))


def _placeholders(candidate: Candidate) -> Iterator[tuple[str, Argument]]:
    everything: list[tuple[str, Argument]] = [*candidate.arguments.plain(), *candidate.arguments.objects()]
    yield from ((path, each) for path, each in everything if _text(each) == ANY_MODULE)


def _text(argument: Argument) -> str:
    if isinstance(argument, Fields):
        return argument.base
    return argument.text if isinstance(argument, Expression) else ""
