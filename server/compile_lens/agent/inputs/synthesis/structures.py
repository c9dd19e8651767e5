"""Turns a tensor into what the program reads of it: an object with attributes, a dictionary, a list, a text or an image.

Which it is follows from the error of a trial: ``'Tensor' object has no attribute 'pos'``, ``KeyError: 'pixels'``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from .arguments import Argument, Expression, Fields, Group, UnknownInteger
from .candidate import Candidate
from .dimensions import Unknowns
from .messages import Requirement, names_in_failing_lines

Guess = Callable[[str, Unknowns], Argument]
# what the source shows that is read of a parameter
Read = Callable[[str], tuple[str, ...]]
_OF_LISTS = frozenset({"append", "extend", "insert", "pop"})
_OF_TEXTS = frozenset({"lower", "upper", "strip", "startswith", "endswith", "encode", "format", "replace", "join"})
_OF_IMAGES = frozenset({"convert", "getbands", "thumbnail"})
TEXT, IMAGE = Expression("'a photo of a cat'"), Expression("PIL.Image.new('RGB', (64, 64))")


def with_structure(
    candidate: Candidate, requirement: Requirement, error: BaseException, guess: Guess, read: Read
) -> Iterator[Candidate]:
    """Candidates in which an argument has the attribute or the key that an error requires: those in the failing line first.

    A new object also has what ``read`` says of its parameter.
    """
    in_line = names_in_failing_lines(error)
    if requirement.kind == "several":
        yield from _several(candidate, in_line)
        return
    names = sorted(
        (name for name, _ in candidate.arguments.named),
        key=lambda n: in_line.index(n) if n in in_line else len(in_line),
    )
    is_dict = requirement.kind == "key"
    objects = dict(candidate.arguments.objects())
    open_objects = [
        name
        for name in names
        if name in objects
        and (objects[name].is_dict or not is_dict)
        and requirement.value not in dict(objects[name].named)
    ]
    for name in open_objects if requirement.value else ():
        if objects[name].is_dict is is_dict:
            yield _with_fields(candidate, name, objects[name], (requirement.value,), guess)
    tensors = dict(candidate.arguments.tensors())
    numbers = {
        name for name, argument in candidate.arguments.named if isinstance(argument, (Expression, UnknownInteger))
    }
    for name in names:
        if name in objects and is_dict and not objects[name].is_dict:
            changed = Fields(objects[name].named, True)  # read as a dictionary, too
            yield _with_fields(candidate, name, changed, (requirement.value,), guess)
        elif name in tensors:
            plain = None if is_dict else _plain(requirement.value, tensors[name])
            if plain is not None:
                arguments = candidate.arguments.with_argument(name, plain)
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns))
            else:
                fields = (requirement.value, *read(name))
                yield _with_fields(candidate, name, Fields((), is_dict), fields, guess)
        elif name in numbers and name in in_line and (requirement.value or is_dict):
            # a configuration whose class the file does not name
            fields = (requirement.value, *read(name))
            yield _with_fields(candidate, name, Fields((), is_dict), fields, guess)


def _several(candidate: Candidate, in_line: list[str]) -> Iterator[Candidate]:
    """Candidates in which a number is several of it: that in the failing line first."""
    for name, argument in sorted(candidate.arguments.named, key=lambda pair: pair[0] not in in_line):
        is_number = isinstance(argument, Expression) and argument.text.isdigit()
        if isinstance(argument, UnknownInteger) or is_number:
            for count in (2, 4):
                group = Group((argument,) * count)
                yield Candidate(candidate.arguments.with_argument(name, group), copy.deepcopy(candidate.unknowns))


def _plain(attribute: str, tensor: Argument) -> Argument | None:
    """What has the attribute and is no object of the program's."""
    if attribute in _OF_LISTS:
        return Group((tensor,), is_list=True)
    if attribute in _OF_TEXTS:
        return TEXT
    return IMAGE if attribute in _OF_IMAGES else None


def _with_fields(candidate: Candidate, name: str, owner: Fields, fields: tuple[str, ...], guess: Guess) -> Candidate:
    unknowns = copy.deepcopy(candidate.unknowns)
    for field in filter(None, dict.fromkeys(fields)):
        if field not in dict(owner.named):
            owner = owner.with_field(field, guess(field, unknowns))
    return Candidate(candidate.arguments.with_argument(name, owner), unknowns)
