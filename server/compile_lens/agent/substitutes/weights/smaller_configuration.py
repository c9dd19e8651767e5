"""Shrinks configurations whose models are too large for a run that only looks at what is compiled."""

from __future__ import annotations

import copy
import re
from typing import Any

from ...models.configuration_sizes import LAYERS, WIDTHS
from ...runtime.foreign_code import attempted

# 640 MB of float32; BERT, GPT-2 and RoBERTa in their base sizes have 110 to 125 million
MAX_PARAMETERS = 160_000_000
# Layers first: they are alike. The vocabulary keeps its size, so that the program's token ids stay valid.
LEVELS = ((), LAYERS, (*LAYERS, *WIDTHS))
Change = tuple[str, int, int]  # name, value before, value now


def shrink_to_fit(config: Any, model: Any) -> tuple[Any, tuple[Change, ...]] | None:
    """``config``, or a copy shrunk until ``model`` is small enough, and the changes; None if no level is small enough."""
    for level in LEVELS:
        smaller, changes = _smaller(config, level)
        if changes or not level:
            count = _parameters(smaller, model)
            if count is not None and count <= MAX_PARAMETERS:
                return smaller, changes
    return None


def _parameters(config: Any, model: Any) -> int | None:
    """The number of parameters of ``model`` with ``config``, counted on the meta device; None if it cannot be built there."""
    import torch

    with torch.device("meta"):
        return attempted(lambda: sum(parameter.numel() for parameter in model(copy.deepcopy(config)).parameters()))


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
    """Cut lists with an item per layer to the new number of layers."""
    lengths = {
        before: now for name, before, now in changes if any(re.fullmatch(pattern, name) for pattern, _ in LAYERS)
    }
    for name, value in settings.items():
        if isinstance(value, (list, tuple)) and len(value) in lengths:
            setattr(config, name, value[: lengths[len(value)]])


def _keep_head_groups(config: Any, settings: dict[str, Any]) -> None:
    """Keep keys per head where they were: a model with grouped keys takes another path through its code."""
    heads = settings.get("num_attention_heads")
    if heads is not None and settings.get("num_key_value_heads") == heads:
        config.num_key_value_heads = config.num_attention_heads
