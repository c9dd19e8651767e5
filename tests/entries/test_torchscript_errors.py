"""Errors of TorchScript: the reason is at their end, below the source that failed."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.agent.runtime.torchscript_errors import failing_texts, reason_of
from compile_lens.analysis.error_words import first_words

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

messages = agent_module("inputs.synthesis.errors.messages")
search = agent_module("inputs.synthesis.trying.search")

VIEWED = """\
The following operation failed in the TorchScript interpreter.
Traceback of TorchScript (most recent call last):
  File "/home/me/models.py", line 12, in f
        raise ValueError("too many")
    y = g(x, n)
        ~ <--- HERE
    return y
  File "/home/me/models.py", line 6, in g
def g(x, n: int):
    return x.view(n,
           ~~~~~~ <--- HERE
                  other: 5)
RuntimeError: shape '[1, 5]' is invalid for input of size 3
"""
RAISED = """\
The following operation failed in the TorchScript interpreter.
Traceback of TorchScript (most recent call last):
  File "/home/me/models.py", line 11, in f
    if n > 2:
        raise ValueError("n must be at most 2")
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
    return x
builtins.ValueError: n must be at most 2
"""


def test_the_reason_is_the_sentence() -> None:
    assert reason_of(VIEWED) == "shape '[1, 5]' is invalid for input of size 3"
    assert reason_of(RAISED) == "n must be at most 2"
    assert reason_of("anything: else") == "anything: else"
    assert search.sentence_of(RuntimeError(VIEWED)) == "RuntimeError: shape '[1, 5]' is invalid for input of size 3"
    assert first_words(VIEWED) == "shape '[1, 5]' is invalid for input of size 3"


def test_what_failed_is_the_innermost_piece_of_source() -> None:
    assert failing_texts(VIEWED) == ["x.view(n,", "g(x, n)"]
    assert failing_texts(RAISED) == ['raise ValueError("n must be at most 2")']


def test_only_the_reason_says_what_is_required() -> None:
    text = VIEWED.replace("too many", "rates must be between 0 and 1")
    assert "fractions" not in [each.kind for each in messages.requirements(RuntimeError(text))]
    told = RAISED.replace("n must be at most 2", "rates must be between 0 and 1")
    assert "fractions" in [each.kind for each in messages.requirements(RuntimeError(told))]
