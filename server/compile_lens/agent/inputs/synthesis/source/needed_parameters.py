"""Tells which optional parameters a model cannot do without: None stands for a number that its users know."""

from __future__ import annotations

import re

from ..terms.parameter_info import ParameterInfo
from .hint_kinds import kinds_of

_VOCABULARY = r"(?:num|n)_?tokens?|vocab(?:ulary)?_?size|n_?vocab"
_DEPTH = re.compile(r"(?:.*_)?(?:depth|(?:num|n)_(?:encoder_|decoder_|hidden_)?(?:layers?|blocks))")


def is_needed(info: ParameterInfo) -> bool:
    """Whether a parameter with the default None is a number of layers, which a model cannot do without."""
    is_open = not info.required and info.default is None and kinds_of(info.hint, info.annotation) <= {"int"}
    return is_open and _DEPTH.fullmatch(info.name) is not None


def is_vocabulary(info: ParameterInfo) -> bool:
    """Whether a parameter with the default None is the size of a table of tokens."""
    return not info.required and info.default is None and re.fullmatch(_VOCABULARY, info.name) is not None
