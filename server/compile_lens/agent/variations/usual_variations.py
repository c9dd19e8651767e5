"""How most users call a model besides: what nobody has to ask for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .call_snapshot import INFERENCE, ArgumentNames, CallSnapshot
from .input_variations import MODE, InputVariation, default_numbers, flags, gradients, modes, numbers
from .returned_states import returned_states
from .state_methods import state_variations
from .usual_sizes import usual_sizes

# what counts from call to call, by its name: a program that passes another number next is the usual one
COUNTED = re.compile(
    r"(?:.*_)?(?:pos|position|step|timestep|offset|epoch|iter|iteration|index|idx|length|len)s?(?:_.*)?", re.I
)
# what a schedule sets anew from step to step
SCHEDULED = re.compile(
    r"(?:.*_)?(?:temperature|temp|tau|progress|anneal(?:ing)?|noise_(?:level|std|scale)|sigma)(?:_.*)?", re.I
)
# a default is passed only for what changes, and not for a limit
PASSED_LATER = re.compile(rf"{SCHEDULED.pattern}|(?:global_|train_|time_?)?(?:step|epoch|iteration)|start_pos", re.I)
MAX_NUMBERS = 2
ARGUMENT, TOGETHER = "argument", "arguments-together"


def usual_variations(
    base: CallSnapshot,
    names: ArgumentNames,
    modules: list[Any],
    offered: Iterable[tuple[str, str, Any]] = (),
    has_sizes: bool = False,
) -> Iterator[InputVariation]:
    """How most users call a model besides: in the other mode, with optional arguments, with states that the call before has returned, after
    methods that set its state, with another batch, with other numbers and flags, and without gradients.

    What most often recompiles comes first, since time may end: another grad mode costs every model the same.
    ``offered`` are names of optional arguments with text and value of each. ``has_sizes``: the program shows with which sizes it is called.
    """
    of_mode = list(modes(base, modules))
    yield from (variation for variation in of_mode if variation.kind == MODE)
    known: set[str] = set()
    yield from _with_arguments(base, names, _noted(offered, known))
    yield from returned_states(base, names, known)
    if len(modules) == 1:
        yield from state_variations(base, modules[0])
    if not has_sizes:
        yield from usual_sizes(base, names)
        of_names = {int: COUNTED, float: SCHEDULED}
        changing = (each for name, kind, each in numbers(base, names) if of_names[kind].fullmatch(name))
        defaults = (each for name, each in default_numbers(base, names) if PASSED_LATER.fullmatch(name))
        yield from itertools.islice(itertools.chain(changing, defaults), MAX_NUMBERS)
    yield from flags(base, names)
    if modules and not any(each.requires_grad for module in modules for each in module.parameters()):
        # what a loss gets in training comes from a model, and needs a gradient; in an evaluation it does not
        yield from itertools.islice(gradients(base, names), 1)
    yield from (each for each in of_mode if each.kind != MODE and INFERENCE not in each.phrase)


def _noted(offered: Iterable[tuple[str, str, Any]], known: set[str]) -> Iterator[tuple[str, str, Any]]:
    """``offered``, whose names join ``known`` as they come: a search for the next one takes long."""
    for each in offered:
        known.add(each[0])
        yield each


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
