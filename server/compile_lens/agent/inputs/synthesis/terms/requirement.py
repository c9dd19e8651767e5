"""What an error requires of the arguments of a call, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that an error requires; what ``value`` says depends on ``kind``.

    Of tensors:
    ``rank``: the rank. ``more-dims``: how many dimensions more than now, or fewer. ``dtype``: the dtype.
    ``size``, ``bound``: ``got expected``, for a size that must be the other, or must be larger or smaller.
    ``shape``: a shape and the name of the argument that has it. ``alike``: two shapes that should be one.
    ``items``: how many there are, and into how many they are viewed. ``batch``: more than one item.
    ``larger``: larger sizes. ``longer``: more steps. ``below``: the limit of the numbers in it.
    ``fractions``: numbers from 0 to 1. ``positive``: numbers above 0. ``gradient``: what is passed needs one.

    Of other arguments:
    ``argument``, ``no-argument``: the name of one that is lacking, or is too much.
    ``mentioned``: a word that may be the name of an optional one.
    ``attribute``, ``key``: what an object must have; without a value, it is some mapping.
    ``several``: for one number; ``list`` if it must be a list. ``pair``: of tensors for one.
    ``tensor``: for a number. ``number``: for a tensor; ``flag`` for a boolean. ``array``: of NumPy, for a tensor.
    ``function``: for a tensor that is called. ``callable``, ``module``: for what is neither.
    """

    kind: str
    value: str
