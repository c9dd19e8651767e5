"""What a program unpacks where it fails: `h, c = states[i]` takes pairs from a list, `x1, y1, x2, y2 = boxes.unbind(-1)` four columns."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator
from dataclasses import replace

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed
from ..terms.arguments import INSIDE, Group, Tensor
from ..terms.candidate import Candidate
from .failing_lines import failing_line, innermost

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
    """The size of a tensor along which a program unpacked it, and the one that it takes: 4 and 6 for `a, b, c, d, e, f = boxes.unbind(-1)`.

    None where what is unpacked is no part of a tensor.
    """
    found = _UNPACKED.search(str(error))
    if found is None or not is_of_parts(error):
        return None
    measured = _measured(error, int(found["want"]))
    told = (int(found["got"]), int(found["want"])) if found["got"] else None
    return measured or told


def _measured(error: BaseException, count: int) -> tuple[int, int] | None:
    """The same by the tensor that the failing line parts into ``count`` items, all of them of one length."""
    import torch

    call, (frame, _) = _unpacked(failing_line(error)), innermost(error)
    if frame is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    given = list(call.args)
    is_function = getattr(call.func.value, "id", "") == "torch"
    whole = given.pop(0) if is_function and given else call.func.value
    length: ast.expr | None = ast.Constant(1)
    if call.func.attr != "unbind":
        length = given.pop(0) if given and call.func.attr == "split" else None
    named = {each.arg: each.value for each in call.keywords}
    along = named.get("dim", given[0] if given else ast.Constant(0))
    if length is None or not isinstance(whole, ast.Name):
        return None
    names = {**frame.f_globals, **frame.f_locals}
    # of names and numbers: another expression may change something
    texts = (ast.unparse(each) for each in (along, length) if isinstance(each, (ast.Constant, ast.UnaryOp, ast.Name)))
    found = [attempted(functools.partial(eval, text, names)) for text in texts]
    numbers = [each for each in found if type(each) is int]
    tensor = names.get(whole.id)
    if len(numbers) != 2 or not isinstance(tensor, torch.Tensor):
        return None
    dimension, size = numbers
    return (int(tensor.shape[dimension]), count * size) if -tensor.dim() <= dimension < tensor.dim() else None


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
