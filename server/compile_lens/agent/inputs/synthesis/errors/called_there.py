"""What the failing function works with, by the names in its source: the layers and functions that it calls."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from ....runtime.foreign_code import attempted


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name, or of attributes of one (`self.encoder.layers`), in ``frame``; None for what more than that leads to.

    Nothing of the program's runs for it but its properties.
    """
    inside = node
    while isinstance(inside, ast.Attribute):
        inside = inside.value
    if not isinstance(inside, ast.Name):
        return None
    names = {**frame.f_globals, **frame.f_locals}
    return attempted(lambda: eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, names))
