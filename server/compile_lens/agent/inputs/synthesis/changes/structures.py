"""Turns a tensor into what the program reads of it: an object with attributes, a dictionary, a list, a text or an image.

Which it is follows from the error of a trial: ``'Tensor' object has no attribute 'pos'``, ``KeyError: 'pixels'``.
"""

from __future__ import annotations

import copy
import functools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..errors.failing_lines import failing_line, keys_looked_up_in, names_in_failing_lines
from ..errors.lacking_object import lacking_object
from ..errors.object_messages import is_method_of_text
from ..source.guesses import EDGES, INPUTS, SIZES, TABLES, WORDS, by_name
from ..terms.arguments import INSIDE, Argument, Constructed, Expression, Fields, Group, Tensor, UnknownInteger
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.requirement import Requirement

Guess = Callable[[str, Unknowns], Argument]
# what the source shows that is read of a parameter
Read = Callable[[str], tuple[str, ...]]
_OF_LISTS = frozenset({"append", "extend", "insert", "pop"})
_NUMBERS, _SET = Group((Expression("64"), Expression("64")), is_list=True), Expression("{0, 1}")
# methods of lists and sets that no number and no module has
_PLAIN_METHODS: dict[str, Argument] = {
    **dict.fromkeys(("append", "extend", "insert", "sort", "reverse", "remove", "copy", "index", "count"), _NUMBERS),
    **dict.fromkeys(("union", "intersection", "difference", "issubset", "issuperset", "discard"), _SET),
}
_OF_TEXTS = frozenset({"lower", "upper", "strip", "startswith", "endswith", "encode", "format", "replace", "join"})
# layers that have what is read of a model
_CONVOLUTION, _LINEAR = "torch.nn.Conv2d(3, 64, 3, padding=1)", "torch.nn.Linear(64, 64)"
_OF_LAYERS = {
    "out_channels": _CONVOLUTION,
    "in_channels": _CONVOLUTION,
    "out_features": _LINEAR,
    "in_features": _LINEAR,
}
_OF_TABLES = frozenset({"weight", "embedding_dim", "num_embeddings", "padding_idx"})
_OF_PACKED = frozenset({"batch_sizes", "sorted_indices", "unsorted_indices"})
_OF_IMAGES = frozenset({"convert", "getbands", "thumbnail"})
_ITERATED = re.compile(
    r"\bin\s+(?:self\.)?(\w+)\b(?!\()|(?:len|zip|enumerate|sum|list|tuple|iter|ModuleList)\((?:self\.)?(\w+)|\*(?:self\.)?(\w+)|(\w+)\["
    r"|\[['\"](\w+)['\"]\]\["
)
ANY_MODULE = Expression("torch.nn.Identity()")
VECTOR, ROWS = 64, 256
# indices are below it: of what they point to there is more than one
FIRST_INDICES = 2
_NO_ATTRIBUTE = re.compile(r"'types\.SimpleNamespace' object has no attribute '(\w+)'")
_MATRIX = re.compile(r"(?:.*_)?(?:emb\w*|matrix|mat|table|vectors|basis|prototypes|centers|codebook)", re.I)
# of an image whose shape a constructor takes
SIDE = 16
# in place of a tensor
NUMBER = 8
# a dictionary whose keys are indices
NUMBERED = Expression("{0: 1, 1: 0}")
# where all items are taken, and no name of one is known
ANY_KEYS = ("first", "second")
PACK = "torch.nn.utils.rnn.pack_sequence"
# of a graph without cycles, each vertex of which leads to all that come after it
SQUARE = "numpy.triu(numpy.ones((3, 3), dtype=int), 1)"
ARRAYS = (f"numpy.random.rand({SIDE}, {SIDE})", f"numpy.random.rand({SIDE})")
TEXT, IMAGE = Expression("'a photo of a cat'"), Expression("PIL.Image.new('RGB', (64, 64))")


def as_graphs(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """The candidate in which an object with edges is a graph of torch_geometric, where what only those have is used."""
    lacking = _NO_ATTRIBUTE.search(str(error))
    library: Any = sys.modules.get("torch_geometric.data")
    if lacking is None or not any(hasattr(getattr(library, name, None), lacking[1]) for name in ("Data", "Batch")):
        return
    for path, thing in candidate.arguments.objects():
        has_edges = any(re.fullmatch(EDGES, name) for name, _ in thing.named)
        if has_edges and not (thing.is_dict or thing.base or thing.maker):
            yield _with(candidate, path, replace(thing, maker="torch_geometric.data.Batch"))


def with_structure(
    candidate: Candidate, requirement: Requirement, error: BaseException, guess: Guess, read: Read
) -> Iterator[Candidate]:
    """Candidates in which an argument has the attribute or the key that an error requires: those in the failing line first.

    A new object also has what ``read`` says of its parameter.
    """
    in_line = names_in_failing_lines(error)
    if requirement.kind == "several":
        yield from _several(candidate, in_line, _iterated(failing_line(error)), requirement.value == "list")
        return
    if requirement.kind == "tensor":
        yield from _tensors(candidate, in_line, requirement.value)
        yield from _lists_of_tensors(candidate, in_line)
        return
    if requirement.kind == "number":
        yield from _numbers(candidate, in_line, requirement.value == "flag")
        return
    if requirement.kind == "array":
        yield from _arrays(candidate, in_line)
        return
    if requirement.kind == "square":
        yield from _squares(candidate, {*in_line, *re.findall(r"\w+", str(error))})
        return
    if requirement.kind == "pair":
        yield from _pairs(candidate, in_line)
        return
    if requirement.value in _OF_PACKED:
        yield from _packed(candidate, in_line)
        return
    is_dict = requirement.kind == "key"
    objects = dict(candidate.arguments.objects())
    lacking = lacking_object(error, dict(candidate.arguments.named))
    if (
        lacking in objects
        and requirement.value in _of_tensors()
        and not (objects[lacking].base or objects[lacking].maker)
    ):
        # what was taken for an object, for another of its attributes, is used as a tensor
        unknowns = copy.deepcopy(candidate.unknowns)
        yield Candidate(candidate.arguments.with_argument(lacking, guess(_last(lacking), unknowns)), unknowns)
    names = [lacking] if lacking else _names(candidate, in_line, _owner(error, requirement.value))
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
    numbers = {name for name, _ in candidate.arguments.plain()}
    for name in names:
        is_in_line = _last(name) in in_line
        if name in objects and is_dict and not objects[name].is_dict:
            changed = Fields(objects[name].named, True)  # read as a dictionary, too
            yield _with_fields(candidate, name, changed, (requirement.value,), guess)
        elif is_dict and is_in_line and isinstance(candidate.arguments.get(name), Group):
            yield _with_fields(candidate, name, Fields((), True), (requirement.value,), guess)
        elif name in tensors:
            plain = None if is_dict else _plain(requirement.value, tensors[name])
            if plain is not None:
                arguments = candidate.arguments.with_argument(name, plain)
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns))
            else:
                fields = (requirement.value, *read(name))
                yield _with_fields(candidate, name, Fields((), is_dict), fields, guess)
        elif (
            name in numbers
            and is_in_line
            and not is_dict
            and requirement.value in _OF_TABLES
            and by_name(TABLES, _last(name))
        ):
            yield _with(candidate, name, Expression(by_name(TABLES, _last(name))))
        elif name in numbers and is_in_line and not is_dict and requirement.value in _PLAIN_METHODS:
            yield _with(candidate, name, _PLAIN_METHODS[requirement.value])
        elif name in numbers and is_in_line and not is_dict and is_method_of_text(requirement.value, error):
            yield _with(candidate, name, Expression(repr(by_name(WORDS, _last(name)) or "mean")))
        elif name in numbers and is_in_line and not is_dict and requirement.value in _of_modules():
            yield _with(candidate, name, ANY_MODULE)
        elif name in numbers and is_in_line and not is_dict and requirement.value in _of_tensors():
            yield from _tensors(candidate, [_last(name)])
        elif name in numbers and is_in_line and (requirement.value or is_dict):
            # a module with attributes of its own, or a configuration whose class the file does not name
            base = "" if is_dict else _module_at(candidate, name)
            if base and requirement.value in _OF_LAYERS:
                yield _with(candidate, name, Expression(_OF_LAYERS[requirement.value]))
            fields = (requirement.value, *(() if base else read(name)))
            yield _with_fields(candidate, name, Fields((), is_dict, base), fields, guess)
    if is_dict and not requirement.value and names and names[0] not in objects and _last(names[0]) in in_line:
        yield _with(candidate, names[0], NUMBERED)
    if not is_dict and requirement.value in _of_tensors():
        yield from _lists_of_tensors(candidate, in_line)


def with_mentioned_keys(candidate: Candidate, error: BaseException, guess: Guess) -> Iterator[Candidate]:
    """Candidates in which a dictionary whose keys nobody knew has an input that the error names: `specify input_ids or inputs_embeds`."""
    words = [word for word in dict.fromkeys(re.findall(r"\b[a-z]+_\w+\b", str(error))) if by_name(INPUTS, word)]
    for name, thing in candidate.arguments.objects():
        if thing.is_dict and tuple(key for key, _ in thing.named) == ANY_KEYS:
            for word in words:
                yield _with_fields(candidate, name, Fields((), is_dict=True), (word,), guess)


def with_keys_of_program(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a dictionary whose keys nobody knew has those of what the program looks them up in: of a `ModuleDict`."""
    if not isinstance(error, KeyError) or not {*error.args} & {*ANY_KEYS}:
        return
    keys = [each for each in keys_looked_up_in(error) if isinstance(each, str)]
    for path, thing in candidate.arguments.objects():
        if keys and thing.is_dict and tuple(key for key, _ in thing.named) == ANY_KEYS:
            named = tuple((key, thing.named[0][1]) for key in keys)
            yield _with(candidate, path, replace(thing, named=named))


def _module_at(candidate: Candidate, name: str) -> str:
    """The text of the placeholder for a module that is passed as ``name``; '' where none is: `cfg.model` is most often a configuration."""
    given = candidate.arguments.get(name)
    return given.text if given == ANY_MODULE else ""


def _owner(error: BaseException, read: str) -> str:
    """Of what ``read`` is read in the failing line: ``model`` for `cfg.model.head` and `head`; '' where that is not seen."""
    written = re.escape(read)
    pattern = rf"""([\w.\[\]'"]+?)(?:\.{written}\b|\[\s*['"]{written}['"]\s*\])"""
    found = re.search(pattern, failing_line(error)) if read else None
    return re.findall(r"\w+", found[1])[-1] if found is not None else ""


def _names(candidate: Candidate, in_line: list[str], owner: str) -> list[str]:
    """The arguments that an error is about: those of the name ``owner`` if there are any, else all, those in the failing line first.

    Of what is inside of objects, such as `cfg.model`, there is only what stands in that line.
    """
    arguments = candidate.arguments
    everything = [
        name for name, _ in (*arguments.named, *arguments.plain(), *arguments.objects(), *arguments.tensors())
    ]
    items = {name for name, _ in arguments.objects() if _last(name).isdecimal()}
    found = [
        name for name in dict.fromkeys(everything) if INSIDE not in name or _last(name) in in_line or name in items
    ]
    found = [name for name in found if _last(name) == owner] or found
    return sorted(found, key=lambda n: in_line.index(_last(n)) if _last(n) in in_line else len(in_line))


def _iterated(line: str) -> set[str]:
    """The names in a line whose items are taken: `for side in sides`, `len(sides)`, `sides[0]`."""
    return {next(filter(None, groups)) for groups in _ITERATED.findall(line)}


def _several(candidate: Candidate, in_line: list[str], iterated: set[str], is_list: bool) -> Iterator[Candidate]:
    """Candidates in which a number is several of it: one that is ``iterated`` over, else any, those that are called by a plural first."""
    numbers = list(candidate.arguments.plain())
    named = [pair for pair in numbers if _last(pair[0]) in iterated]
    others = sorted(numbers, key=lambda pair: (not _last(pair[0]).endswith("s"), _last(pair[0]) not in in_line))
    if not named:
        yield from _several_in_dictionaries(candidate)
    for name, argument in named or others:
        is_number = isinstance(argument, Expression) and argument.text.isdecimal()
        if isinstance(argument, UnknownInteger) or is_number:
            for count in (2, 4):
                yield _with_group(candidate, name, Group((argument,) * count, is_list))
    for name, group in candidate.arguments.named if is_list else ():
        if isinstance(group, Group) and not group.is_list:
            yield _with_group(candidate, name, replace(group, is_list=True))
    for name, group in candidate.arguments.named:
        first = group.items[0] if isinstance(group, Group) and group.items else None
        if isinstance(group, Group) and isinstance(first, (Expression, UnknownInteger)):
            # one item of three is the shape of an image: `[(channels, height, width)]`
            side = Expression(str(SIDE))
            for items in (
                (Group((first, side, side)),),
                (Group((first,)),),
                (Group((first, first)),) * len(group.items),
            ):
                yield _with_group(candidate, name, replace(group, items=items))


def _several_in_dictionaries(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates in which each value of a dictionary is several of it: `for part in parts.values(): len(part)` names no argument."""
    for path, thing in candidate.arguments.objects():
        values = [value for _, value in thing.named]
        if thing.is_dict and all(
            isinstance(each, (Expression, UnknownInteger)) and _is_number(each) for each in values
        ):
            named = tuple((key, Group((value, value), is_list=True)) for key, value in thing.named)
            yield _with(candidate, path, replace(thing, named=named))


def _pairs(candidate: Candidate, in_line: list[str]) -> Iterator[Candidate]:
    """Candidates in which a tensor is two of it, such as the state of an LSTM: that in the failing line first, then the last."""
    tensors = list(reversed(list(candidate.arguments.tensors())))
    for name, tensor in sorted(tensors, key=lambda pair: _last(pair[0]) not in in_line):
        if not _last(name).isdecimal():
            yield _with_group(candidate, name, Group((tensor, tensor)))


def _tensors(candidate: Candidate, in_line: list[str], dtype: str = "") -> Iterator[Candidate]:
    """Candidates in which a number of the failing line is a tensor of one dimension; of two where it is a table of embeddings.

    ``dtype``: of indices.
    """
    for name, _ in candidate.arguments.plain():
        if _last(name) in in_line:
            unknowns = copy.deepcopy(candidate.unknowns)
            sizes = (ROWS, VECTOR) if _MATRIX.fullmatch(_last(name)) else (VECTOR,)
            dims = tuple(unknowns.get(f"{name}_{index}", size).name for index, size in enumerate(sizes))
            made = Tensor(dtype, dims, FIRST_INDICES) if dtype else Tensor("float32", dims)
            yield Candidate(candidate.arguments.with_argument(name, made), unknowns)


def _lists_of_tensors(candidate: Candidate, in_line: list[str]) -> Iterator[Candidate]:
    """Candidates in which several numbers are as many vectors: those in the failing line first, since a loop names its items anew."""
    groups = [(name, group) for name, group in candidate.arguments.named if isinstance(group, Group)]
    for name, group in sorted(groups, key=lambda pair: _at(pair[0], in_line)):
        if all(isinstance(item, (Expression, UnknownInteger)) and _is_number(item) for item in group.items):
            unknowns = copy.deepcopy(candidate.unknowns)
            vector = Tensor("float32", (unknowns.get(f"{name}_0", VECTOR).name,))
            items = (vector,) * len(group.items)
            yield Candidate(candidate.arguments.with_argument(name, replace(group, items=items)), unknowns)


def _is_number(item: Expression | UnknownInteger) -> bool:
    return isinstance(item, UnknownInteger) or item.text.isdecimal()


def _arrays(candidate: Candidate, in_line: list[str]) -> Iterator[Candidate]:
    """Candidates in which a number of the failing line is an array of numpy's: a square matrix, then a vector."""
    for name, _ in candidate.arguments.plain():
        for text in ARRAYS if _last(name) in in_line else ():
            yield _with(candidate, name, Expression(text))


def _squares(candidate: Candidate, words: set[str]) -> Iterator[Candidate]:
    """Candidates in which a number or a list of them that an error names is a square matrix."""
    for name, _ in (*candidate.arguments.plain(), *candidate.arguments.groups()):
        if _last(name) in words:
            yield _with(candidate, name, Expression(SQUARE))


def _numbers(candidate: Candidate, in_line: list[str], is_flag: bool) -> Iterator[Candidate]:
    """Candidates in which a tensor of the failing lines is a number, or a flag; so is a shape."""
    shapes = [(name, each) for name, each in candidate.arguments.plain() if _is_shape(each)]
    several: list[tuple[str, Argument]] = [*candidate.arguments.tensors(), *candidate.arguments.groups(), *shapes]
    for name, _ in sorted(several, key=lambda pair: _at(_last(pair[0]), in_line)):
        if _last(name) in in_line:
            number = by_name(SIZES, _last(name))
            yield _with(candidate, name, Expression("True" if is_flag else str(number or NUMBER)))


def _is_shape(argument: Argument) -> bool:
    """Whether it is several numbers for their name alone: `in_shape=(3, 32, 32)`."""
    return isinstance(argument, Expression) and argument.text.startswith("(")


def _at(name: str, in_line: list[str]) -> int:
    return in_line.index(name) if name in in_line else len(in_line)


@functools.cache
def _of_tensors() -> frozenset[str]:
    import torch

    return frozenset(dir(torch.Tensor)) - frozenset(dir(int))


@functools.cache
def _of_modules() -> frozenset[str]:
    import torch

    return frozenset(dir(torch.nn.Module)) - _of_tensors() - frozenset(dir(int))


def _with(candidate: Candidate, name: str, argument: Argument) -> Candidate:
    return Candidate(candidate.arguments.with_argument(name, argument), copy.deepcopy(candidate.unknowns))


def _with_group(candidate: Candidate, name: str, group: Group) -> Candidate:
    return Candidate(candidate.arguments.with_argument(name, group), copy.deepcopy(candidate.unknowns))


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2]


def _plain(attribute: str, tensor: Argument) -> Argument | None:
    """What has the attribute and is no object of the program's."""
    if attribute in _OF_LISTS:
        return Group((tensor,), is_list=True)
    if attribute in _OF_TEXTS:
        return TEXT
    return IMAGE if attribute in _OF_IMAGES else None


def _with_fields(candidate: Candidate, name: str, owner: Fields, fields: tuple[str, ...], guess: Guess) -> Candidate:
    unknowns = copy.deepcopy(candidate.unknowns)
    fields = fields if any(fields) or not owner.is_dict or owner.named else ANY_KEYS
    for field in filter(None, dict.fromkeys(fields)):
        if field not in dict(owner.named):
            owner = owner.with_field(field, guess(field, unknowns))
    return Candidate(candidate.arguments.with_argument(name, owner), unknowns)


def _packed(candidate: Candidate, in_line: list[str]) -> Iterator[Candidate]:
    """Candidates in which a tensor is two sequences that are packed, as recurrent layers take them."""
    tensors = [name for name, argument in candidate.arguments.named if isinstance(argument, Tensor)]
    for name in sorted(tensors, key=lambda name: name not in in_line):
        unknowns = copy.deepcopy(candidate.unknowns)
        dims = tuple(unknowns.get(f"{name}_{part}", size).name for part, size in (("steps", SIDE), ("width", VECTOR)))
        sequence = Tensor("float32", dims, has_known_rank=True)
        packed = Constructed(PACK, (("sequences", Group((sequence, sequence), is_list=True)),))
        yield Candidate(candidate.arguments.with_argument(name, packed), unknowns)
