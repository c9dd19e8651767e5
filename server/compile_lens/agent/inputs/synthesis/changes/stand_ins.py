"""Models in place of a placeholder that changes nothing: what wraps any model works with one that takes its kind of input.

Where a program calls it with more than one argument, or by name (`net(tokens, mask=mask)`), it is one that takes whatever is passed and
works on the first of that.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ..terms.arguments import INSIDE, Argument, Expression, Fields
from ..terms.candidate import Candidate
from .other_values import ANY_MODULE, SMALL_MODEL

_PLAIN = "torch.nn.Sequential"
_TOKENS = "{of}(torch.nn.Embedding(256, 64), torch.nn.Linear(64, {outputs}))"
_IMAGES = (
    "{of}(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), "
    "torch.nn.Linear(8, {outputs}))"
)
_FIRST = "[*args, *named.values()][0]"
_ANY_CALL = 'type("Model", ({base},), {{"forward": lambda self, *args, **named: {result}}})'
OF_ANY_CALL = _ANY_CALL.format(base="torch.nn.Module", result=_FIRST) + "()"
_LAYERS_OF_ANY_CALL = _ANY_CALL.format(base=_PLAIN, result=f"{_PLAIN}.forward(self, {_FIRST})")
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
            model = text.format(of=_PLAIN, outputs=1 if _OF_ONE_NUMBER.fullmatch(name) else outputs)
            arguments = arguments.with_argument(path, _in_place_of(each, model))
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns))


def with_models_of_any_call(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates of a constructor in which each placeholder for a module takes whatever is passed: one that returns it, then models of
    tokens and of images."""
    places = list(_placeholders(candidate))
    for text, outputs in ((OF_ANY_CALL, 0), (_TOKENS, 256), (_IMAGES, 10)) if places else ():
        arguments = candidate.arguments
        model = text if text == OF_ANY_CALL else text.format(of=_LAYERS_OF_ANY_CALL, outputs=outputs)
        for path, each in places:
            arguments = arguments.with_argument(path, _in_place_of(each, model))
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns))


def _in_place_of(placeholder: Argument, model: str) -> Argument:
    return replace(placeholder, base=model) if isinstance(placeholder, Fields) else Expression(model)


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
