"""How most users call a model besides: what nobody has to ask for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .call_snapshot import INFERENCE, ArgumentNames, CallSnapshot
from .input_variations import InputVariation, flags, modes, numbers
from .usual_sizes import usual_sizes

# what counts from call to call, by its name: a program that passes another number next is the usual one
COUNTED = re.compile(
    r"(?:.*_)?(?:pos|position|step|timestep|offset|epoch|iter|iteration|index|idx|length|len)s?(?:_.*)?", re.I
)
MAX_NUMBERS = 2


def usual_variations(
    base: CallSnapshot,
    names: ArgumentNames,
    modules: list[Any],
    offered: Iterable[tuple[str, str, Any]] = (),
    has_sizes: bool = False,
) -> Iterator[InputVariation]:
    """How most users call a model besides: in the other mode, without gradients, with optional arguments and flags, another batch.

    ``offered`` are names of optional arguments with text and value of each. ``has_sizes``: the program shows with which sizes it is called.
    """
    for variation in modes(base, modules):
        if INFERENCE not in variation.phrase:
            yield variation
    for name, text, value in offered:
        yield InputVariation("argument", f"`{name}={text}`", (names.with_value(base, name, value),))
    yield from flags(base, names)
    if has_sizes:
        return
    yield from usual_sizes(base, names)
    counted = (variation for name, variation in numbers(base, names) if COUNTED.fullmatch(name))
    yield from itertools.islice(counted, MAX_NUMBERS)
