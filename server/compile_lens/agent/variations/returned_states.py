"""Calls that get what the call before has returned for them: hidden states (``out, h = cell(x, h)``), and keys and values that are kept."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Set
from typing import Any

from ..instrument.unrecorded import uncompiled, unrecorded
from ..runtime.foreign_code import attempted
from .call_snapshot import ArgumentNames, CallSnapshot
from .input_variations import InputVariation

RETURNED = "returned"
# what is handed on from call to call, by the name of its parameter
HANDED_ON = re.compile(
    r"(?!.*hidden_states$)(?:.*_)?(?:h|hx|hc|hidden|hiddens|state|states|cache|caches|kv|past|carry|mems)"
    r"(?:_(?:state|kv|cache|key_values?))?"
)


def returned_states(base: CallSnapshot, names: ArgumentNames, known: Set[str]) -> Iterator[InputVariation]:
    """The call with each parameter, not one of ``known``, that it can get from the one before; twice, since what is kept may grow."""
    parameters = list(names.signature.parameters.values()) if names.signature is not None else []
    # the first one is the input itself
    wanted = [each.name for each in parameters[1:] if _is_handed_on(each) and each.name not in known]
    result = _result(base, names) if wanted else None
    for name in wanted if result is not None else ():
        for number, value in enumerate(_candidates(result, name)):
            first = names.with_value(base, name, value)
            following = _candidates(_result(first, names), name)
            if number < len(following):
                second = names.with_value(base, name, following[number])
                yield InputVariation(RETURNED, f"`{name}` from the call before", (first, second), f"{RETURNED} {name}")


def _is_handed_on(parameter: inspect.Parameter) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    may_change = parameter.default in (None, inspect.Parameter.empty)
    return parameter.kind in kinds and may_change and bool(HANDED_ON.fullmatch(parameter.name))


def _result(call: CallSnapshot, names: ArgumentNames) -> Any:
    """What the call returns in eager; None where it raises."""
    with unrecorded(), uncompiled():
        return attempted(lambda: call.call(names.target))


def _candidates(result: Any, name: str) -> list[Any]:
    """What of ``result`` may be handed on as ``name``: what has that name, what follows the output, or all of it, as a cell returns."""
    import torch

    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        return [result[name]] if result.get(name) is not None else []
    if not isinstance(result, (tuple, list)):
        found = attempted(lambda: getattr(result, name))
        return [found] if found is not None else []
    rest = list(result)[1:]
    found = [rest[-1]] if rest else []
    found += [tuple(rest)] if len(rest) > 1 else []
    return [each for each in found if each is not None]
