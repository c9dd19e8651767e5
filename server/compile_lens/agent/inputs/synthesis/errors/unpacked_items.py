"""What a program unpacks where it fails: `h, c = states[i]` takes pairs from a list, `x1, y1, x2, y2 = boxes.unbind(-1)` four columns."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ....runtime.parsed_source import parsed
from ..terms.arguments import INSIDE, Group, Tensor
from ..terms.candidate import Candidate
from .failing_lines import failing_line

# layers that each have a state
MOST_ITEMS = (2, 4, 1, 3)
MOST_PARTS = 4
_PARTING = frozenset({"split", "chunk", "unbind", "tensor_split", "split_with_sizes"})
_UNPACKED = re.compile(r"values to unpack \(expected (?P<want>\d+)(?:, got (?P<got>\d+))?\)")


def with_tuples(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a tensor is a list of tuples, where the failing line unpacks its items: the states of several layers."""
    found = _UNPACKED.search(str(error))
    count = int(found["want"]) if found is not None else 0
    name = _whose_items(failing_line(error)) if 1 < count <= MOST_PARTS else ""
    for path, tensor in candidate.arguments.tensors():
        if name and path.rpartition(INSIDE)[2] == name:
            for length in MOST_ITEMS:
                items = (Group((_state(tensor),) * count),) * length
                arguments = candidate.arguments.with_argument(path, Group(items, is_list=True))
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def is_of_parts(error: BaseException) -> bool:
    """Whether the failing line unpacks the parts of a tensor, and no shape: `i, o, u = torch.split(x, width, dim=1)`."""
    value = _unpacked(failing_line(error)) if _UNPACKED.search(str(error)) is not None else None
    return isinstance(value, ast.Call) and getattr(value.func, "attr", "") in _PARTING


def columns_unpacked(error: BaseException) -> tuple[int, int] | None:
    """How many items a tensor had that a program unpacked, and how many it takes: 4 and 6 for `a, b, c, d, e, f = boxes.unbind(-1)`.

    None where what is unpacked is no part of a tensor.
    """
    found = _UNPACKED.search(str(error))
    if found is None or not found["got"] or not is_of_parts(error):
        return None
    return int(found["got"]), int(found["want"])


def _state(tensor: Tensor) -> Tensor:
    return replace(tensor, dtype="float32", below=None, equal=None)


def _whose_items(line: str) -> str:
    """``states`` for `h, c = states[i]` and for `for h, c in states:`; '' for what unpacks something else."""
    value = _unpacked(line)
    if isinstance(value, ast.Subscript):
        value = value.value
    elif isinstance(_statement(line), ast.Assign):
        return ""
    return value.id if isinstance(value, ast.Name) else ""


def _unpacked(line: str) -> ast.expr | None:
    """What the statement unpacks: the right side of an assignment, or what a loop goes over."""
    statement = _statement(line)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Tuple, ast.List)):
        return statement.value
    if isinstance(statement, ast.For) and isinstance(statement.target, (ast.Tuple, ast.List)):
        return statement.iter
    return None


def _statement(line: str) -> ast.stmt | None:
    tree = parsed(f"{line} pass" if line.startswith("for ") and line.endswith(":") else line)
    return tree.body[0] if tree is not None and tree.body else None
