"""The states that recurrent layers take beside their input: `self.lstm(x, (h, c))`, `self.cell(x, state)`."""

from __future__ import annotations

from typing import Any

from ....runtime.foreign_code import part_of
from .guesses import InputGuess

BATCH = "B"


def states_of(made: Any, states: tuple[tuple[str, int], ...]) -> tuple[InputGuess, ...]:
    """What the layers of ``made`` take that get a value as their state: one tensor, or the two of an LSTM; () where none is known.

    ``states`` are attributes of ``made``, each with the number of values that are passed together: 1 for what holds all of it.
    """
    for path, count in states:
        layer = part_of(made, path)
        found = _state_of(layer)
        if found is not None:
            return (found, found) if count == 1 and _has_two(layer) else (found,)
    return ()


def _state_of(layer: Any) -> InputGuess | None:
    """Of which shape a state of ``layer`` is (torch/nn/modules/rnn.py): layers and directions, batch, width; of a cell, batch and width."""
    from torch import nn

    if isinstance(layer, nn.RNNBase):
        width = layer.proj_size or layer.hidden_size
        return InputGuess("float32", (str(layer.num_layers * (1 + layer.bidirectional)), BATCH, str(width)))
    return InputGuess("float32", (BATCH, str(layer.hidden_size))) if isinstance(layer, nn.RNNCellBase) else None


def _has_two(layer: Any) -> bool:
    from torch import nn

    return isinstance(layer, (nn.LSTM, nn.LSTMCell))
