"""Which attributes the values of a graph have, and which of those of a module are not of the program (torch 2.6 to 2.13).

A graph that says another is refused: one that leads from value to value may lead to a frame of Python, and from there to all of it.
The names are data (``knowledge/data/graph_attributes.json``):

- ``tensors``, ``methods``: of `dir(torch.Tensor)`, but for those that call a function, or lead to what is no tensor; a method is
  called, and is no value that something else could call
- ``results``: of what an operator returns with names (torch/_C/return_types.pyi)
- ``contexts``: of the context of an `autograd.Function` (torch/autograd/function.py)
- ``modules``: what each module has by `torch.nn.Module`; no tensor and no module of a program has such a name in one
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from compile_lens.late_pattern import pattern

_NAMES = Path(__file__).parent.parent / "knowledge" / "data" / "graph_attributes.json"
_OF_FRAMES = pattern(r"(?:ag|co|cr|f|gi|tb)_\w+")


def is_of_value(name: object) -> bool:
    """Whether a tensor, or what an operator returns, has the attribute or the method ``name``."""
    return any(name in _names()[of] for of in ("tensors", "methods", "results", "contexts"))


def is_method(name: object) -> bool:
    """Whether a tensor has a method ``name``, and nothing else has a value of that name."""
    return name in _names()["methods"] and not any(name in _names()[of] for of in ("tensors", "results", "contexts"))


def is_of_program(name: str) -> bool:
    """Whether ``name`` may be what a module of the program owns: a tensor, a number or another module."""
    return not name.startswith("__") and name not in _names()["modules"] and _OF_FRAMES.fullmatch(name) is None


@cache
def _names() -> dict[str, frozenset[str]]:
    return {of: frozenset(names) for of, names in json.loads(_NAMES.read_text("utf-8")).items()}
