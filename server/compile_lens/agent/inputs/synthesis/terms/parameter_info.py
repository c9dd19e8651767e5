"""What is known of a parameter of a function or a constructor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# what is read of each item of a list, beside what is read by a key
ITEM = "*"


@dataclass(slots=True)
class ParameterInfo:
    """What is known of one parameter. ``dims`` are names, numbers, or '' for one without a name; None if the shape is unknown.

    ``least_rank`` follows from subscripts such as ``x.shape[2]``; ``layers`` are attributes of ``self`` that are applied to it first;
    ``fields`` are keys and attributes that are read of it, ``inside`` what it reads by keys, however deep
    (``source/nested_reads.py``), ``unpacked`` are its parts: `images, labels = batch`. ``of_graph``: it comes with the edges of a graph.
    ``is_flag``: the function only asks whether it is true. ``passed_on``: functions that get it as it is, as they are written, each with
    the position or the name of its argument. ``states``: attributes of ``self`` that get it as a state, each with how many are
    passed together. ``field_kinds``: the dtypes of what is read of it, where its uses tell. ``is_count``: the function counts with it.
    """

    name: str
    required: bool
    default: Any
    annotation: str
    dims: tuple[str, ...] | None = None
    dtype: str = ""
    least_rank: int = 0
    layers: tuple[str, ...] = ()
    words: str = ""
    keyword_only: bool = False
    positional_only: bool = False
    hint: Any = None
    fields: tuple[str, ...] = ()
    inside: dict[str, Any] = field(default_factory=dict)
    unpacked: tuple[ParameterInfo, ...] = ()
    is_first: bool = False
    of_graph: bool = False
    is_flag: bool = False
    passed_on: tuple[tuple[str, int | str], ...] = ()
    states: tuple[tuple[str, int], ...] = ()
    field_kinds: dict[str, str] = field(default_factory=dict)
    is_count: bool = False

    @property
    def item_fields(self) -> tuple[str, ...]:
        """The keys that are read of each of its items."""
        return tuple(self.inside.get(ITEM, ()))


def positional_names(infos: Iterable[ParameterInfo]) -> tuple[str, ...]:
    """The parameters that can only be passed by position, in their order."""
    return tuple(info.name for info in infos if info.positional_only)
