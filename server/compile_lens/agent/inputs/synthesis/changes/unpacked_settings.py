"""Dictionaries that a program unpacks into a call: `Encoder(**encoder_params)`, `Mixer(**config["mixer"])`, `Block(**self.options)`.

They begin empty, get what the call that they are unpacked into lacks, and lose what it does not take.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator

from ....runtime.parsed_source import parsed
from ..errors.failing_lines import failing_lines
from ..errors.lacking_arguments import lacking_names
from ..terms.arguments import INSIDE, Argument, Arguments, Constructed, Fields
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

_NO_MAPPING = re.compile(r"argument after \*\* must be a mapping, not (?!NoneType)")
_NOT_TAKEN = re.compile(r"got an unexpected keyword argument '(\w+)'")


def with_unpacked_settings(
    candidate: Candidate,
    error: BaseException,
    is_parameter: Callable[[str], bool],
    guess: Callable[[str, Unknowns], Argument],
) -> Iterator[Candidate]:
    """The candidate with an empty dictionary for what is unpacked and is none, with what the failing call lacks in it, or without what
    that does not take.

    ``is_parameter``: whether the constructor has a parameter of that name, also one that it can do without.
    """
    lacking, no_mapping = lacking_names(error), _NO_MAPPING.search(str(error)) is not None
    refused = _NOT_TAKEN.search(str(error))
    if not (lacking or no_mapping or refused) or not isinstance(error, TypeError):
        return
    path = next((each for each in _unpacked(error) if is_parameter(each.partition(INSIDE)[0])), "")
    now = _at(candidate.arguments, path) if path else None
    settings = now if isinstance(now, Fields) and now.is_dict else Fields(is_dict=True)
    unknowns = copy.deepcopy(candidate.unknowns)
    if refused is not None:
        if refused[1] not in dict(settings.named):
            return
        settings = Fields(tuple(pair for pair in settings.named if pair[0] != refused[1]), is_dict=True)
    for each in lacking:
        settings = settings.with_field(each, guess(each, unknowns))
    if path and settings != now:
        yield Candidate(candidate.arguments.with_argument(path, settings), unknowns)


def _unpacked(error: BaseException) -> Iterator[str]:
    """The paths of what the failing lines unpack, the innermost first: ``config/attention`` for `**config["attention"]`."""
    for line in failing_lines(error):
        tree = parsed(line) or parsed(f"{line.rstrip(':,')}\n")
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.keyword) and node.arg is None:
                names = _steps(node.value)
                if names:
                    yield INSIDE.join(names)


def _steps(node: ast.expr) -> list[str]:
    """The names that lead to a value, without `self`; none where something else leads there. Of `given or {}`, those of `given`."""
    match node:
        case ast.BoolOp(ast.Or(), [first, *_]):
            return _steps(first)
        case ast.Name(name):
            return [name]
        case ast.Attribute(ast.Name("self"), name):
            return [name.strip("_")]
        case ast.Attribute(value, name) | ast.Subscript(value, ast.Constant(str(name))):
            outer = _steps(value)
            return [*outer, name] if outer else []
    return []


def _at(arguments: Arguments, path: str) -> Argument | None:
    first, *rest = path.split(INSIDE)
    found = arguments.get(first)
    for name in rest:
        found = dict(found.named).get(name) if isinstance(found, (Fields, Constructed)) else None
    return found
