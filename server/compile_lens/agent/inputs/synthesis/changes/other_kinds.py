"""Candidates whose tensors have numbers of another kind: integers that look something up, fractions, complex ones."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace

from ....runtime.parsed_source import parsed
from ..errors.failing_lines import failing_line
from ..errors.origins import Origins
from ..terms.arguments import INSIDE, Arguments, Group, Tensor
from ..terms.candidate import Candidate


def of_dtype(candidate: Candidate, dtype: str, error: BaseException | None) -> Iterator[Candidate]:
    """Candidates in which each tensor in turn is of ``dtype``: those first that the failing line uses as an index where that is wanted.
    What computes with complex numbers takes all of its tensors as such."""
    below = 10 if dtype == "int64" else None
    every = candidate.arguments
    each: list[Arguments] = []
    indices = _used_as_indices(error) if dtype == "int64" and error is not None else frozenset()
    tensors = sorted(nearest_first(candidate, error), key=lambda pair: _last(pair[0]) not in indices)
    for name, tensor in tensors:
        if tensor.dtype != dtype and _is_other_kind(tensor.dtype, dtype):
            changed = replace(tensor, dtype=dtype, below=below, equal=None, contents="")
            every = every.with_argument(name, changed)
            each.append(candidate.arguments.with_argument(name, changed))
    for arguments in (every, *each) if dtype.startswith("complex") and len(each) > 1 else each:
        yield _with(candidate, arguments)


def of_other_kinds(candidate: Candidate) -> Iterator[Candidate]:
    """The last resort: integers instead of floats, one tensor instead of a group."""
    for name, argument in candidate.arguments.named:
        if isinstance(argument, Tensor) and argument.dtype == "float32" and not argument.has_known_rank:
            yield _with(
                candidate,
                candidate.arguments.with_argument(name, replace(argument, dtype="int64", below=10, contents="")),
            )
        if isinstance(argument, Group) and argument.items and isinstance(argument.items[0], Tensor):
            yield _with(candidate, candidate.arguments.with_argument(name, argument.items[0]))


def nearest_first(candidate: Candidate, error: BaseException | None) -> list[tuple[str, Tensor]]:
    """The tensors among the arguments: those first that are nearest to what failed."""
    tensors = list(candidate.arguments.tensors())
    if error is None or len(tensors) < 2:
        return tensors
    origins = Origins(error)
    return sorted(tensors, key=lambda pair: origins.steps(pair[0]))


def _used_as_indices(error: BaseException) -> frozenset[str]:
    """The names in the failing line that stand in brackets, or that a loop counts up to: `positions[neighbors]`, `range(order.max())`."""
    line = failing_line(error)
    tree = parsed(f"{line} pass" if line.endswith(":") else line)
    inside: list[ast.AST] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Subscript):
            inside += ast.walk(node.slice)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
            inside += (each for argument in node.args for each in ast.walk(argument))
    return frozenset(each.id for each in inside if isinstance(each, ast.Name))


def _is_other_kind(dtype: str, wanted: str) -> bool:
    """Whether an error that requires ``wanted`` may be about a tensor of ``dtype``: integers become floats; floats, doubles or complex."""
    if wanted in ("float64", "complex64"):
        return dtype == "float32"
    return (dtype.startswith("int") or dtype == "bool") if wanted.startswith("float") else True


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2]


def _with(candidate: Candidate, arguments: Arguments) -> Candidate:
    return Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
