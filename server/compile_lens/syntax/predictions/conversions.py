"""A tensor becomes a Python number, list or text: the graph has to run first.

Verified on torch 2.13, each with the code given. ``.numpy()`` is no break: numpy is traced as tensors, and ``.tolist()`` of that is
the same break. With
``capture_scalar_outputs`` neither ``.item()`` nor ``int(x)`` breaks, and ``.tolist()`` does for floating point alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions import vocabulary
from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, Text, Use
from compile_lens.syntax.predictions.values import Sort, Value

_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool"})
_MATH = frozenset(
    f"math.{name}"
    for name in [
        "sqrt",
        "floor",
        "ceil",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "tanh",
        "isnan",
        "isinf",
        "pow",
        "fabs",
        "trunc",
    ]
)


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    captures = setting.switches.capture_scalar_outputs
    if isinstance(use, Text):
        if use.value.is_tensor:
            yield Broken("tensor-to-text", "GB0208", use.node, "formatting a tensor needs its values")
        return
    if not isinstance(use, Call):
        return
    if use.method in ("item", "tolist") and use.receiver is not None and not use.positional and not captures:
        yield from _method(use, use.receiver, setting)
    first = use.positional[0] if use.positional else None
    if first is None or not first.is_tensor:
        return
    if use.name in _NUMBERS and not captures:
        yield Broken("tensor-to-number", "GB0124", use.node, f"`{setting.short(use.node)}` needs the tensor's value")
    elif use.name in _MATH and not captures:
        yield Broken("math-of-tensor", "GB0033", use.node, f"`{use.name}` needs the tensor's value; torch has its own")
    elif use.name == "builtins.complex":
        yield Broken("tensor-to-complex", "GB0059", use.node, "`complex` needs the tensor's value")
    elif use.name == "builtins.str":
        yield Broken("tensor-to-text", "GB0059", use.node, "the text of a tensor needs its values")
    elif use.name == "builtins.repr":
        yield Broken("tensor-to-text", "GB0569", use.node, "the text of a tensor needs its values")


def _method(use: Call, receiver: Value, setting: Setting) -> Iterator[Broken]:
    is_tensor = receiver.sort in (Sort.TENSOR, Sort.ARRAY) or (
        receiver.sort is Sort.UNKNOWN and use.method in vocabulary.EVIDENT_METHODS
    )
    if not is_tensor:
        return
    if use.method == "item" and receiver.sort is Sort.ARRAY:
        yield Broken("tensor-item", "GB0033", use.node, f"`{setting.short(use.node)}` needs the array's value")
    elif use.method == "item":
        yield Broken("tensor-item", "GB0124", use.node, f"`{setting.short(use.node)}` needs the tensor's value")
    else:
        yield Broken("tensor-tolist", "GB0109", use.node, f"`{setting.short(use.node)}` needs the tensor's values")
