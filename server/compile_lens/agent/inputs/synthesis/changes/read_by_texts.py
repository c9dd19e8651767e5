"""What a program reads by texts: `batch["user"]` makes a dictionary of a tensor, with all that the function reads of it at once.

A layer that gets what is read tells its shape: `self.users(batch["user"])` looks up one number for each row.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..errors.called_there import value_of
from ..errors.failed_conditions import source_tree
from ..errors.failing_lines import innermost
from ..errors.lacking_object import paths_of
from ..source.guesses import InputGuess, dimension_size
from ..source.layers import expected_input
from ..terms.arguments import Argument, Fields, Tensor
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

# of what one function reads
MOST_READ = 16
_STEPS = "T"


def with_all_read_by_texts(
    candidate: Candidate, error: BaseException, guess: Callable[[str, Unknowns], Argument]
) -> Iterator[Candidate]:
    """The candidate in which each tensor that the failing function looks up by texts is a dictionary with all that it reads of it, and
    each dictionary that lacks some of it has that, too.

    Where what is read goes through tables and through linear layers, a row has one number for each, which comes first; else sequences.
    """
    frame, _ = innermost(error)
    if frame is None or not _is_about_texts(error):
        return
    reads = {name: keys for name, keys in _reads_by_texts(frame).items() if _lacks(frame.f_locals.get(name), keys)}
    names = dict(candidate.arguments.named)
    paths = {name: paths_of(frame.f_locals[name], error, names) for name in reads}
    # a view of a tensor has its storage, too: what one path leads to is an argument
    found = {paths[name][0]: keys for name, keys in reads.items() if len(paths[name]) == 1}
    kinds = {guess.dtype for keys in found.values() for guess in keys.values() if guess is not None}
    for is_of_rows in (True, False) if len(kinds) > 1 else (False,):
        unknowns, arguments = copy.deepcopy(candidate.unknowns), candidate.arguments
        known = dict(arguments.objects())
        for path, keys in found.items():
            made = known.get(path, Fields(is_dict=True))
            for key, expected in list(keys.items())[:MOST_READ]:
                if key not in dict(made.named):
                    of_layer = _tensor(key, expected, is_of_rows, unknowns) if expected is not None else None
                    made = made.with_field(key, of_layer or guess(key, unknowns))
            arguments = arguments.with_argument(path, made)
        if arguments is not candidate.arguments:
            yield Candidate(arguments, unknowns)


def _is_about_texts(error: BaseException) -> bool:
    """Whether a key was not there, or what was looked up by it was a tensor, which takes a text for several indices."""
    if isinstance(error, KeyError):
        return bool(error.args) and isinstance(error.args[0], str)
    return isinstance(error, (IndexError, TypeError)) and "too many indices" in str(error)


def _reads_by_texts(frame: FrameType) -> dict[str, dict[str, InputGuess | None]]:
    """The texts that the function of ``frame`` reads each of its variables by, with the input of the layer that gets what is read."""
    tree = source_tree(frame)
    found: dict[str, dict[str, InputGuess | None]] = {}
    nodes = sorted(ast.walk(tree), key=_place) if tree is not None else []
    layers = {id(each): node.func for node in nodes if isinstance(node, ast.Call) for each in node.args[:1]}
    for node in nodes:
        match node:
            case ast.Subscript(ast.Name(name), ast.Constant(str(key)), ast.Load()):
                func = layers.get(id(node))
                layer = value_of(func, frame) if func is not None else None
                expected = expected_input(layer) if hasattr(layer, "parameters") else None
                found.setdefault(name, {}).setdefault(key, expected)
    return found


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _lacks(value: Any, keys: dict[str, InputGuess | None]) -> bool:
    if type(value) is dict:
        return not keys.keys() <= value.keys()
    return type(value).__name__ == "Tensor"


def _tensor(key: str, expected: InputGuess, is_of_rows: bool, unknowns: Unknowns) -> Tensor:
    """What a layer gets that is read by ``key``; without steps of a sequence where it ``is_of_rows``."""
    wanted = [dim for dim in expected.dims if not (is_of_rows and dim == _STEPS)]
    dims = tuple(
        unknowns.get(dim, int(dim), fixed=True).name
        if dim.isdecimal()
        else unknowns.get(dim or f"{key}_{index}", dimension_size(dim)).name
        for index, dim in enumerate(wanted)
    )
    return Tensor(expected.dtype, dims, expected.below)
