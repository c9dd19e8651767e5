"""How most users call a model besides: what nobody has to ask for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .call_snapshot import INFERENCE, ArgumentNames, CallSnapshot
from .input_variations import MODE, InputVariation, flags, gradients, modes, numbers
from .state_methods import state_variations
from .usual_sizes import usual_sizes

# what counts from call to call, by its name: a program that passes another number next is the usual one
COUNTED = re.compile(
    r"(?:.*_)?(?:pos|position|step|timestep|offset|epoch|iter|iteration|index|idx|length|len)s?(?:_.*)?", re.I
)
MAX_NUMBERS = 2
ARGUMENT, TOGETHER = "argument", "arguments-together"


def usual_variations(
    base: CallSnapshot,
    names: ArgumentNames,
    modules: list[Any],
    offered: Iterable[tuple[str, str, Any]] = (),
    has_sizes: bool = False,
) -> Iterator[InputVariation]:
    """How most users call a model besides: in the other mode, with optional arguments, after methods that set its state, with another
    batch, flags, and without gradients.

    What most often recompiles comes first, since time may end: another grad mode costs every model the same.
    ``offered`` are names of optional arguments with text and value of each. ``has_sizes``: the program shows with which sizes it is called.
    """
    of_mode = list(modes(base, modules))
    yield from (variation for variation in of_mode if variation.kind == MODE)
    yield from _with_arguments(base, names, offered)
    if len(modules) == 1:
        yield from state_variations(base, modules[0])
    if not has_sizes:
        yield from usual_sizes(base, names)
        counted = (variation for name, variation in numbers(base, names) if COUNTED.fullmatch(name))
        yield from itertools.islice(counted, MAX_NUMBERS)
    yield from flags(base, names)
    if modules and not any(each.requires_grad for module in modules for each in module.parameters()):
        # what a loss gets in training comes from a model, and needs a gradient; in an evaluation it does not
        yield from itertools.islice(gradients(base, names), 1)
    yield from (each for each in of_mode if each.kind != MODE and INFERENCE not in each.phrase)


def _with_arguments(
    base: CallSnapshot, names: ArgumentNames, offered: Iterable[tuple[str, str, Any]]
) -> Iterator[InputVariation]:
    """With each optional argument alone, and with all of them: what one of them does may depend on another."""
    together, phrases = base, []
    for name, text, value in offered:
        yield InputVariation(ARGUMENT, f"`{name}={text}`", (names.with_value(base, name, value),))
        together = names.with_value(together, name, value)
        phrases.append(f"`{name}={text}`")
    if len(phrases) > 1:
        yield InputVariation(TOGETHER, f"{', '.join(phrases[:-1])} and {phrases[-1]}", (together,))
