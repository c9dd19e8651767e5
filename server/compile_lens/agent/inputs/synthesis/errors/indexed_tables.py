"""How large what is indexed has to be, by the whole index: an error names only the first number of it that is too large."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed
from .failing_lines import failing_line, innermost

_NAMED = (ast.Attribute, ast.Name, ast.Load)


def size_for_index(error: BaseException, size: int) -> int | None:
    """The size that all numbers of the index fit, where the failing line looks something of ``size`` up by a name: 64 for
    `x[:, self.order]`. None where that is not seen."""
    return max((int(index.max()) + 1 for _, index in _lookups(error) if int(index.max()) >= size), default=None)


def has_dimension_too_many(error: BaseException, size: int) -> bool:
    """Whether what is indexed has the size that its index is for, but as its last one: `x[:, self.order]` of sequences of vectors,
    which is for vectors."""
    wanted = size_for_index(error, size)
    return any(
        table.dim() > 2 and int(table.shape[-1]) == wanted and size in table.shape[1:-1] for table, _ in _lookups(error)
    )


def _lookups(error: BaseException) -> Iterator[tuple[Any, Any]]:
    """Tensors that the failing line indexes, and the tensors of integers that it does it with."""
    import torch

    frame, _ = innermost(error)
    tree = parsed(failing_line(error))
    if frame is None or tree is None:
        return
    names = {**frame.f_globals, **frame.f_locals}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript):
            continue
        table = _value(node.value, names)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for index in (_value(part, names) for part in parts):
            is_index = isinstance(index, torch.Tensor) and not index.is_floating_point() and index.dtype != torch.bool
            if is_index and isinstance(table, torch.Tensor) and index.numel():
                yield table, index


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of a name or an attribute; None for other expressions, which may change something."""
    if not all(isinstance(each, _NAMED) for each in ast.walk(node)):
        return None
    return attempted(functools.partial(eval, ast.unparse(node), names))
