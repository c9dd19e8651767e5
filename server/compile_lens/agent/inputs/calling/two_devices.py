"""Notices that inputs which are made up on the CPU belong on the GPU: a function that makes tensors there itself, or a module whose weights
go there when it is called, says so only by an operator that gets tensors of both.

A real GPU refuses that call. The emulated one computes with both, in eager; the compiler refuses it there, too, and what it says then would
be an error of the file's.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from typing import Any

from ...runtime.parsed_source import parsed_expression
from ...torch_internals.core import PYTREE, TORCH_DISPATCH_MODE
from .expressions import is_tensor

GPU = "cuda"
# aten/src/ATen/native: indices, lengths and sources that may be on the CPU where the rest is on a GPU
TAKE_BOTH = frozenset(
    {
        "copy",
        "copy_",
        "_to_copy",
        "_foreach_copy_",
        "set_",
        "index",
        "index_put",
        "index_put_",
        "_index_put_impl_",
        "_unsafe_index",
        "_unsafe_index_put",
        "_pack_padded_sequence",
        "_ctc_loss",
        "tensor_split",
    }
)


def says_so(error: BaseException | None) -> bool:
    """Whether ``error`` is what torch says of tensors on two devices (c10 and torch/_subclasses/fake_tensor.py, 2.6 to 2.13)."""
    return error is not None and "to be on the same device" in str(error)


@contextlib.contextmanager
def noticed() -> Iterator[list[str]]:
    """The operators that get tensors of the CPU and of a GPU inside of the ``with`` block; none where there is no GPU, real or emulated."""
    import torch

    found: list[str] = []
    mode: Any = TORCH_DISPATCH_MODE.look_up() if torch.cuda.is_available() else None
    if mode is None:
        yield found
        return

    class Watch(mode):
        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = operator.overloadpacket.__name__
            if name not in TAKE_BOTH and _mixes((args, kwargs)):
                found.append(name)
            return operator(*args, **(kwargs or {}))

    with Watch():
        yield found


def _mixes(arguments: Any) -> bool:
    """Whether there are tensors of a GPU and of the CPU; there, those of one number do not count, as in torch."""
    import torch

    tensors = [each for each in PYTREE.need().tree_leaves(arguments) if isinstance(each, torch.Tensor)]
    kinds = {each.device.type for each in tensors if each.dim() or each.device.type != "cpu"}
    return {"cpu", GPU} <= kinds


def on_gpu(call: str) -> str:
    """The text ``call``, a call, with its arguments on the GPU: ``f(x=float32[2])`` as ``f(x=float32[2].cuda())``."""
    tree = parsed_expression(call)
    assert isinstance(tree, ast.Call)
    moved = _Moved()
    tree.args = [moved.visit(each) for each in tree.args]
    for keyword in tree.keywords:
        keyword.value = moved.visit(keyword.value)
    return ast.unparse(ast.fix_missing_locations(tree))


class _Moved(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> Any:
        if not is_tensor(node) or not isinstance(node, ast.expr):
            return self.generic_visit(node)
        return ast.Call(ast.Attribute(node, GPU, ast.Load()), [], [])
