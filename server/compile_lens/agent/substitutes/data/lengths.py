"""Chooses how long made-up data are: a few batches of the program's own size, with a last one as the real data have it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable
from typing import Any

from ...runtime.parsed_source import parsed_file

BATCHES = 2
LARGEST = 512
USUAL = 64
NAMES = re.compile(r"(?:.*_)?(?:batch_?size|bsz?)", re.I)


def made_up_length(stack: Iterable[dict[str, Any]], real: int | None = None) -> int:
    """A few batches for the program whose call ``stack`` is. Without the ``real`` length the last batch is taken to be a smaller one."""
    sizes = [size for file in dict.fromkeys(frame["file"] for frame in stack) for size in _batch_sizes(file)]
    batch = max((size for size in sizes if 1 <= size <= LARGEST), default=USUAL)
    rest = batch // 2 + 1 if real is None else real % batch
    return BATCHES * batch + (rest if batch > 1 else 0)


@functools.lru_cache(maxsize=64)
def _batch_sizes(file: str) -> tuple[int, ...]:
    """The numbers that a file gives as batch sizes: to a parameter, a variable, a key, or as the default of an option."""
    tree = parsed_file(file)
    if tree is None:
        return ()
    found: list[Any] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and NAMES.fullmatch(node.arg or ""):
            found.append(node.value)
        elif isinstance(node, ast.Assign):
            found += [
                node.value for target in node.targets if isinstance(target, ast.Name) and NAMES.fullmatch(target.id)
            ]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and NAMES.fullmatch(node.target.id):
            found.append(node.value)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [
                value for key, value in pairs if isinstance(key, ast.Constant) and NAMES.fullmatch(str(key.value))
            ]
        elif isinstance(node, ast.Call) and _names_option(node):
            found += [keyword.value for keyword in node.keywords if keyword.arg == "default"]
    return tuple(node.value for node in found if isinstance(node, ast.Constant) and type(node.value) is int)


def _names_option(call: ast.Call) -> bool:
    names = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    return any(isinstance(name, str) and NAMES.fullmatch(name.lstrip("-").replace("-", "_")) for name in names)
