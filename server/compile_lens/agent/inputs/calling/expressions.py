"""Evaluates calls written as text: ``Block(dim=64, heads=4)(x=float32[2, 16, 64], tokens=int64[2, 16] < 1000)``.

The text is Python, evaluated with the names of the user's module, with one addition: ``float32[2, 16]`` is a random tensor of that
shape, ``int64[2, 16] < 1000`` one of integers from 0, and ``int64[2, 16] == 1`` one of ones. The same text is shown to the user, saved
to a file, and run.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...runtime.parsed_source import UnreadableText, parsed_expression
from ...variations.call_snapshot import in_grad_mode
from .call_modes import PLAIN, CallModes, in_modes
from .placement import beside

DTYPES = frozenset(
    [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "bool",
    ]  # names of torch's
)
TENSOR = "__compile_lens_tensor__"
# integers without a limit are small enough to index most tables
DEFAULT_LIMIT = 10


class InvalidCall(Exception):
    """The text is not a call that can be made; its message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call that is ready to be made: ``target`` is a module or a function; ``before`` is what the program does to it first.

    ``mode`` is the grad mode that the program makes it in, as in ``CallSnapshot``; empty for the one that is in force. ``modes`` are the
    others.
    """

    target: Any
    positional: tuple[Any, ...]
    named: dict[str, Any]
    before: Callable[[], object] | None = None
    mode: str = ""
    modes: CallModes = PLAIN

    def run(self, target: Any = None) -> Any:
        """Make the call, of ``target`` (the compiled one) if it is passed."""
        if self.before is not None:
            self.before()
        with in_modes(self.modes), in_grad_mode(self.mode) if self.mode else contextlib.nullcontext():
            return (self.target if target is None else target)(*self.positional, **self.named)


def evaluate(text: str, module: Mapping[str, Any], make: Callable[..., Any] | None = None) -> PreparedCall:
    """The call that ``text`` describes, with the names in ``module``; ``make`` makes its tensors.

    Raises InvalidCall when the text is not a call, and what the program raises while its objects are made.
    """
    try:
        call = parsed_expression(text.strip())
    except UnreadableText as error:
        raise InvalidCall(f"`{text}` {error}.") from None
    if not isinstance(call, ast.Call):
        raise InvalidCall(f"`{text}` is not a call such as `Block(dim=64)(float32[2, 16, 64])`.")
    names = _Evaluator(module, make or random_tensor)
    positional: list[Any] = []
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            positional += names.value(argument.value)
        else:
            positional.append(names.value(argument))
    named: dict[str, Any] = {}
    for keyword in call.keywords:
        value = names.value(keyword.value)
        named.update(value if keyword.arg is None else {keyword.arg: value})
    target = names.value(call.func)
    return PreparedCall(target, *beside(target, tuple(positional), named))


def random_tensor(dtype: str, shape: tuple[int, ...], below: int | None = None, equal: int | None = None) -> Any:
    """A tensor on the CPU: normally distributed floats, numbers from 0 to below ``below``, or all ``equal``."""
    import torch

    kind = getattr(torch, dtype)
    if equal is not None:
        return torch.full(shape, equal, dtype=kind)
    if kind is torch.bool:
        return torch.rand(shape) < 0.5
    if kind.is_floating_point or kind.is_complex:
        return torch.randn(shape, dtype=kind) if below is None else torch.rand(shape, dtype=kind) * below
    return torch.randint(0, max(1, below if below is not None else DEFAULT_LIMIT), shape, dtype=kind)


class _Evaluator:
    """Evaluates expressions with the module's names, then torch, then modules that can be imported."""

    def __init__(self, module: Mapping[str, Any], make: Callable[..., Any]) -> None:
        self._module = module
        self._make = make

    def value(self, node: ast.expr) -> Any:
        rewritten = _Tensors().visit(node)
        expression = ast.fix_missing_locations(ast.Expression(rewritten))
        return eval(compile(expression, "<entry>", "eval"), self._scope(rewritten))

    def _scope(self, node: ast.expr) -> dict[str, Any]:
        import torch

        scope: dict[str, Any] = {"torch": torch, "nn": torch.nn, **self._module, TENSOR: self._make}
        own = frozenset(scope)
        for found in ast.walk(node):
            if isinstance(found, ast.Attribute):
                dotted = ast.unparse(found)
                root = dotted.partition(".")[0]
                if root.isidentifier() and root not in own and all(part.isidentifier() for part in dotted.split(".")):
                    _import(dotted, root, scope)
        return scope


def _import(dotted: str, root: str, scope: dict[str, Any]) -> None:
    """Import the longest prefix of a dotted name that is a module."""
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        scope[root] = importlib.import_module(root)
        return


class _Tensors(ast.NodeTransformer):
    """Rewrites ``float32[2, 3]`` and its limits to calls that make a tensor."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if is_tensor(node) and isinstance(node.left, ast.Subscript):
            name = "below" if isinstance(node.ops[0], ast.Lt) else "equal"
            return _make_call(node.left, [ast.keyword(name, node.comparators[0])])
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return _make_call(node, []) if is_tensor(node) else self.generic_visit(node)


def is_tensor(node: ast.AST) -> bool:
    """Whether it stands for a tensor: ``float32[2, 16]``, also with a limit, as ``int64[2] < 10``."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.Eq)):
        return isinstance(node.left, ast.Subscript) and is_tensor(node.left)
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in DTYPES


def _make_call(node: ast.Subscript, keywords: list[ast.keyword]) -> ast.Call:
    assert isinstance(node.value, ast.Name)
    shape = node.slice if isinstance(node.slice, ast.Tuple) else ast.Tuple([node.slice], ast.Load())
    return ast.Call(ast.Name(TENSOR, ast.Load()), [ast.Constant(node.value.id), shape], keywords)
