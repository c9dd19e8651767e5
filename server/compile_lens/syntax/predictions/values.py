"""What the source says about a value: a tensor, a Python value, an instance of a class of this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import tree_sitter


class ValueSort(Enum):
    """The families of values that the rules distinguish."""

    TENSOR = "tensor"
    # a numpy array made from a tensor: Dynamo traces it as a tensor
    ARRAY = "array"
    # a number read from a tensor that stays in the graph (capture_scalar_outputs)
    UNBACKED = "unbacked"
    PYTHON = "python"
    SEQUENCE = "sequence"
    # an nn.Module of torch's own
    MODULE = "module"
    INSTANCE = "instance"
    CLASS = "class"
    FUNCTION = "function"
    # something imported or built in, by its full name
    NAME = "name"
    UNKNOWN = "unknown"


# values that one is made of, each counted wherever it stands: values share theirs, and to compare two follows every path
_LARGEST = 1_000


@dataclass(frozen=True, slots=True)
class AbstractValue:
    """``node`` is the definition of an INSTANCE, CLASS or FUNCTION; ``owner`` the instance that a method is bound to.

    ``truth`` is set where the source decides what ``bool(value)`` is, ``is_none`` where it is certainly None. ``elements`` are those
    of a SEQUENCE of known length, ``each`` what any element is. ``others`` are what an INSTANCE may be as well. What a SEQUENCE that
    would be too large holds is unknown.
    """

    sort: ValueSort
    name: str = ""
    node: tree_sitter.Node | None = None
    owner: AbstractValue | None = None
    truth: bool | None = None
    is_none: bool = False
    elements: tuple[AbstractValue, ...] | None = None
    each: AbstractValue | None = None
    others: tuple[AbstractValue, ...] = ()
    closure: Mapping[str, AbstractValue] | None = field(default=None, compare=False, hash=False)
    size: int = field(init=False, default=1, compare=False)

    def __post_init__(self) -> None:
        parts = (*(self.elements or ()), *self.others, *(part for part in (self.each, self.owner) if part is not None))
        size = 1 + sum(part.size for part in parts)
        if size > _LARGEST and self.sort is ValueSort.SEQUENCE:
            object.__setattr__(self, "elements", None)
            object.__setattr__(self, "each", None)
            size = 1
        object.__setattr__(self, "size", size)

    @property
    def is_tensor(self) -> bool:
        return self.sort is ValueSort.TENSOR


UNKNOWN = AbstractValue(ValueSort.UNKNOWN)
TENSOR = AbstractValue(ValueSort.TENSOR)
ARRAY = AbstractValue(ValueSort.ARRAY)
PYTHON = AbstractValue(ValueSort.PYTHON)
NONE = AbstractValue(ValueSort.PYTHON, truth=False, is_none=True)
UNBACKED = AbstractValue(ValueSort.UNBACKED)


def known(truth: bool) -> AbstractValue:
    """A Python value whose truth is known from the source."""
    return AbstractValue(ValueSort.PYTHON, truth=truth)


def sequence_of(each: AbstractValue) -> AbstractValue:
    return AbstractValue(ValueSort.SEQUENCE, each=each)


def sequence(elements: tuple[AbstractValue, ...]) -> AbstractValue:
    """A list or tuple of known length."""
    return AbstractValue(ValueSort.SEQUENCE, elements=elements, each=join_all(elements))


def element(value: AbstractValue, index: int | None = None) -> AbstractValue:
    """What indexing or iterating gives."""
    if value.sort is ValueSort.TENSOR:
        return TENSOR
    if value.sort is ValueSort.SEQUENCE:
        if index is not None and value.elements is not None and -len(value.elements) <= index < len(value.elements):
            return value.elements[index]
        return value.each or UNKNOWN
    return value if value.sort is ValueSort.ARRAY else UNKNOWN


def join(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """What a name is where two branches merge. None joined with a tensor is a tensor: code that uses it has checked."""
    if one is other or one == other:
        return one
    if one.is_none:
        return replace(other, truth=None)
    if other.is_none:
        return replace(one, truth=None)
    if one.sort is not other.sort:
        return UNKNOWN
    if one.sort is ValueSort.TENSOR:
        return TENSOR
    if one.sort is ValueSort.SEQUENCE:
        return sequence_of(join(one.each or UNKNOWN, other.each or UNKNOWN))
    if one.sort is ValueSort.INSTANCE and not one.name and not other.name:
        others = {value.node.id: value for value in (*one.others, other, *other.others) if value.node is not None}
        return replace(one, others=tuple(replace(v, others=()) for v in others.values() if v.node != one.node))
    return PYTHON if one.sort is ValueSort.PYTHON else UNKNOWN


def join_all(values: tuple[AbstractValue, ...]) -> AbstractValue:
    if not values:
        return UNKNOWN
    joined = values[0]
    for value in values[1:]:
        joined = join(joined, value)
    return joined


def join_names(one: Mapping[str, AbstractValue], other: Mapping[str, AbstractValue]) -> dict[str, AbstractValue]:
    """What each name is where two branches merge. A name that only one branch binds keeps that value."""
    names = {**one, **other}
    return {name: join(one.get(name, value), other.get(name, value)) for name, value in names.items()}
