"""A number of layers is one however its parameter says so: `layer_num`, `nb_layers`, `number_of_layers`."""

from __future__ import annotations

from typing import Any

import pytest
from tests.entries.agent_package import agent_module

guesses: Any = agent_module("inputs.synthesis.source.guesses")


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("layer_num", "num_layers"),
        ("nb_layers", "num_layers"),
        ("number_of_layers", "num_layers"),
        ("headNum", "num_heads"),
        ("class_num", "num_classes"),
        ("channel_count", "num_channels"),
        ("token_cnt", "num_tokens"),
        ("decoder_heads", "num_heads"),
        ("voc_size", "vocab_size"),
    ],
)
def test_other_words_for_a_number_of_something(written: str, usual: str) -> None:
    assert guesses.by_name(guesses.SIZES, written) == guesses.by_name(guesses.SIZES, usual) is not None


@pytest.mark.parametrize("name", ["number", "count", "num", "discount", "account"])
def test_a_number_of_nothing_is_none_of_them(name: str) -> None:
    assert guesses.by_name(guesses.SIZES, name) is None


def test_what_a_table_names_itself_comes_first() -> None:
    assert guesses.by_name(guesses.PLAIN_INPUTS, "batch_num") == "0"
