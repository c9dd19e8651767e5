"""Makes a configuration smaller whose model would take too much of the machine for a run that only looks at what is compiled."""

from __future__ import annotations

import copy
import re
from typing import Any

from ...models.configuration_sizes import LAYERS, WIDTHS

# 640 MB of float32; BERT, GPT-2 and RoBERTa in their base sizes have 110 to 125 million
MOST_PARAMETERS = 160_000_000
# Layers first: they are alike. The vocabulary stays, so that the token ids of the program stay inside of it.
LEVELS = ((), LAYERS, (*LAYERS, *WIDTHS))
Change = tuple[str, int, int]  # name, value before, value now


def shrunk(config: Any, model: Any) -> tuple[Any, tuple[Change, ...]] | None:
    """``config``, or a smaller copy of it that ``model`` takes and that is small enough, and what was changed; None if there is none."""
    for level in LEVELS:
        smaller, changes = _smaller(config, level)
        if changes or not level:
            count = _parameters(smaller, model)
            if count is not None and count <= MOST_PARAMETERS:
                return smaller, changes
    return None


def _parameters(config: Any, model: Any) -> int | None:
    """How many parameters ``model`` has with ``config``, found without memory for them; None if it cannot be made so."""
    import torch

    try:
        with torch.device("meta"):
            return int(sum(parameter.numel() for parameter in model(copy.deepcopy(config)).parameters()))
    except Exception:
        return None


def _smaller(config: Any, level: tuple[tuple[str, int], ...]) -> tuple[Any, tuple[Change, ...]]:
    if not level:
        return config, ()
    made = copy.deepcopy(config)
    return made, tuple(_shrink(made, level))


def _shrink(config: Any, level: tuple[tuple[str, int], ...]) -> list[Change]:
    changes: list[Change] = []
    settings = dict(vars(config))
    for name, value in settings.items():
        if hasattr(value, "to_dict") and hasattr(value, "__dict__"):
            changes += _shrink(value, level)
        elif isinstance(value, int) and not isinstance(value, bool):
            size = next((small for pattern, small in level if re.fullmatch(pattern, name)), value)
            if size < value:
                setattr(config, name, size)
                changes.append((name, value, size))
    _cut_lists(config, settings, changes)
    _keep_head_groups(config, settings)
    return changes


def _cut_lists(config: Any, settings: dict[str, Any], changes: list[Change]) -> None:
    """A list with an item for each layer has as many as there are layers now."""
    lengths = {
        before: now for name, before, now in changes if any(re.fullmatch(pattern, name) for pattern, _ in LAYERS)
    }
    for name, value in settings.items():
        if isinstance(value, (list, tuple)) and len(value) in lengths:
            setattr(config, name, value[: lengths[len(value)]])


def _keep_head_groups(config: Any, settings: dict[str, Any]) -> None:
    """A model whose heads share no keys takes another way through its code than one whose heads do."""
    heads = settings.get("num_attention_heads")
    if heads is not None and settings.get("num_key_value_heads") == heads:
        config.num_key_value_heads = config.num_attention_heads
