"""Knows the sizes that an object has under the names which its documentation gives to dimensions: ``(batch, seq_len, input_size)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_expression
from ..terms.candidate import Candidate
from ..terms.dimensions import MAX_SIZE

_WORD = re.compile(r"[A-Za-z_]\w*")
# names of one letter are written as they are: `C` is not `c`
_LEAST_LETTERS = 3


def sizes_of(made: Any, candidate: Candidate | None) -> dict[str, int]:
    """The integers that ``made`` keeps as attributes, and those that its constructor got, by plain name."""
    found: dict[str, int] = {}
    if candidate is not None:
        for name, argument in candidate.arguments.named:
            text = argument.render(lambda unknown: str(candidate.unknowns.values[unknown]))
            if text.isdecimal():
                found[plain(name)] = int(text)
    own: dict[str, Any] = attempted(lambda: vars(made)) or {}
    found.update({plain(name): value for name, value in own.items() if type(value) is int})
    return {name: value for name, value in found.items() if 0 < value <= MAX_SIZE}


def size_of(dimension: str, sizes: Mapping[str, int]) -> int | None:
    """The size of a dimension of this name, which may be an expression of names: ``2 * hidden_size``; None where one is not known."""
    words = _WORD.findall(dimension.replace("self.", ""))
    if not sizes or not words:
        return None
    values = {word: sizes.get(plain(word)) for word in words}
    if None in values.values():
        return None
    expression = dimension.replace("self.", "")
    tree = attempted(lambda: parsed_expression(expression))
    if tree is None or not all(isinstance(node, _ARITHMETIC) for node in ast.walk(tree)):
        return None
    found = attempted(lambda: eval(compile(ast.Expression(tree), "", "eval"), {"__builtins__": {}}, values))
    return found if type(found) is int and 0 < found <= MAX_SIZE else None


_ARITHMETIC = (
    ast.BinOp,
    ast.Name,
    ast.Constant,
    ast.Load,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.FloorDiv,
)


def plain(name: str) -> str:
    """A name without underscores and case, as far as it has enough letters to be one: `inputSize` is `input_size`."""
    letters = name.replace("_", "")
    return letters.lower() if len(letters) >= _LEAST_LETTERS else name
