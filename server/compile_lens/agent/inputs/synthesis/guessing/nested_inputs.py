"""Inputs of which the source reads keys inside of lists and of other dictionaries: targets of detectors, one dictionary for each image.

Of one item there is no batch. What is said of each of its objects, a label and a box, has as many rows: that is one size for all keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..source.guesses import LABELS_BELOW
from ..terms.arguments import Argument, Expression, Fields, Group, Tensor
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ITEM, ParameterInfo

# the objects of an image
OBJECTS, MANY = "objects", 3
# what is read of one item, by its usual names: dtype, sizes, the limit of its numbers, the form that these have
_OF_ITEM: tuple[tuple[str, Tensor], ...] = (
    (
        r"(?:\w+_)?(?:labels?|class(?:es)?(?:_ids?|_labels?)?|category_ids?|cls|tgt_ids)",
        Tensor("int64", (OBJECTS,), LABELS_BELOW),
    ),
    # ascending: the second corner is right of and below the first one; as center and sides it has no negative side
    (r"(?:\w+_)?(?:boxes|bboxes|bbox|rois|proposals)", Tensor("float32", (OBJECTS, "4"), contents="ascending")),
    (r"(?:\w+_)?masks?", Tensor("float32", (OBJECTS, "H", "W"), contents="flags")),
    (r"(?:\w+_)?(?:scores?|areas?|visibility|weights?)", Tensor("float32", (OBJECTS,), 1)),
    (r"(?:is_?crowd|ignore|difficult)", Tensor("int64", (OBJECTS,), equal=0)),
    (r"(?:\w+_)?(?:keypoints|kpts)", Tensor("float32", (OBJECTS, "17", "3"))),
    (r"(?:\w+_)?(?:points|centers|lines|polys)", Tensor("float32", (OBJECTS, "2"), 1)),
    (r"(?:image_?|img_?|sample_?)id", Tensor("int64", ("1",), 8)),
)
# of a layer, which has all items of a batch: what a model says for each of its layers
_OF_BATCH = re.compile(r"(?:pred|output|logit)\w*")
_SIDES = re.compile(r"(?:orig(?:inal)?_?|img_?|image_?|target_?|input_?)?(?:size|shape|hw)")
Guess = Callable[[ParameterInfo], Argument]


def nested_input(whole: ParameterInfo, reads: Mapping[str, Any], unknowns: Unknowns, guess: Guess) -> Argument:
    """The input ``whole``, or what is read of it by a key, of which ``reads`` are read; ``guess`` makes what nothing more is known of."""
    if ITEM in reads:
        item = _one_item(whole.name, reads[ITEM], unknowns, guess)
        return Group((item, item), is_list=True)
    if not reads:
        return guess(whole)
    named = (
        (key, nested_input(_part(key, whole), inside, unknowns, guess)) for key, inside in reads.items() if key != ITEM
    )
    return Fields(tuple(named), is_dict=True)


def _part(key: str, whole: ParameterInfo) -> ParameterInfo:
    return ParameterInfo(key, True, None, "", dtype=whole.field_kinds.get(key, ""))


def _one_item(name: str, reads: Mapping[str, Any], unknowns: Unknowns, guess: Guess) -> Argument:
    """One item of the list ``name``."""
    plain = ParameterInfo(name, True, None, "")
    if ITEM in reads:
        return nested_input(plain, reads, unknowns, guess)
    if reads:
        named = ((key, _one_item(key, inside, unknowns, guess)) for key, inside in reads.items())
        return Fields(tuple(named), is_dict=True)
    known = next((each for pattern, each in _OF_ITEM if re.fullmatch(pattern, name.lower())), None)
    if known is not None and _OF_BATCH.fullmatch(name.lower()) is None:
        dims = tuple(_size(dim, unknowns) for dim in known.dims)
        return replace(known, dims=dims, has_known_rank=True)
    if _SIDES.fullmatch(name.lower()) is not None:
        return Expression("torch.tensor([32, 32])")
    whole = guess(plain)
    is_whole = not isinstance(whole, Tensor) or len(whole.dims) < 2 or _OF_BATCH.fullmatch(name.lower()) is not None
    return whole if is_whole or not isinstance(whole, Tensor) else replace(whole, dims=whole.dims[1:])


def _size(dim: str, unknowns: Unknowns) -> str:
    if dim.isdecimal():
        return unknowns.get(dim, int(dim), fixed=True).name
    return unknowns.get(dim, MANY if dim == OBJECTS else 32).name
