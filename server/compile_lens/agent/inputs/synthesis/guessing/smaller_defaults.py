"""Makes models smaller whose constructor has the sizes of a paper as defaults: fewer layers first, then a smaller vocabulary and width."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....models.configuration_sizes import LAYERS, VOCABULARIES, WIDTHS, SizeTable, smaller_size
from ..terms.arguments import Argument, Expression, literal
from ..terms.parameter_info import ParameterInfo

# one number for each stage of a model
_STAGES = re.compile(
    r"(?:.*_)?(?:depths?|layers|blocks|num_blocks|num_layers|repeats|block_counts|stage_depths?|layers_per_block)"
)
_STAGE_LAYERS = 1
MAX_LAYERS = 4

# from fewer layers, which are alike and change nothing else, to the defaults; smaller widths come last, since they must fit one another
LEVELS: tuple[SizeTable, ...] = (LAYERS, (), (*LAYERS, *VOCABULARIES), (*LAYERS, *VOCABULARIES, *WIDTHS))


def smaller_defaults(
    optional: Sequence[ParameterInfo], written: Mapping[str, str]
) -> Iterator[tuple[tuple[str, Argument], ...]]:
    """Arguments instead of defaults, or instead of the ``written`` values of a call site; each way once."""
    values = {info.name: info.default for info in optional} | {n: _value(text) for n, text in written.items()}
    seen: set[tuple[str, ...]] = set()
    for level in LEVELS:
        named = tuple(
            (name, Expression(small)) for name, value in values.items() if (small := _smaller(name, value, level))
        )
        key = tuple(f"{name}={argument.text}" for name, argument in named)
        if key not in seen:
            seen.add(key)
            yield named


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _smaller(name: str, value: Any, level: SizeTable) -> str | None:
    if not level or isinstance(value, bool):
        return None
    if isinstance(value, int):
        small = smaller_size(name, value, level)
        is_few = level[0] is LAYERS[0] and small is not None and value <= MAX_LAYERS and small == LAYERS[0][1]
        return None if small is None or is_few else str(small)
    if not isinstance(value, (tuple, list)) or _STAGES.fullmatch(name) is None:
        return None
    are_depths = (
        all(isinstance(item, int) and not isinstance(item, bool) for item in value) and max(value, default=0) > 2
    )
    return literal(type(value)(min(item, _STAGE_LAYERS) for item in value)) if are_depths else None
