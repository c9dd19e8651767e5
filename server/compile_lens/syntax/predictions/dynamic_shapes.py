"""A shape that depends on the values of a tensor.

Verified on torch 2.13. ``x[mask] = value``, ``torch.where`` with three arguments, ``torch.histc`` and ``torch.multinomial`` do not
break. With ``capture_dynamic_output_shape_ops`` the operators with GB0036 do not, and with ``capture_scalar_outputs`` neither do
slices and sizes that a tensor gives.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, Index, Use
from compile_lens.syntax.predictions.values import Sort, Value

_OPERATORS = frozenset(
    {"nonzero", "unique", "unique_consecutive", "masked_select", "argwhere", "bincount", "combinations"}
)
_ONLY_OF_TORCH = frozenset({"argwhere", "bincount", "combinations"})
_COMPARING = frozenset({"torch.equal", "torch.allclose", "torch.is_nonzero"})
_SIZES = frozenset(
    {"torch.zeros", "torch.ones", "torch.empty", "torch.arange", "torch.rand", "torch.randn", "torch.eye"}
)
_SIZE_METHODS = frozenset({"view", "expand", "repeat", "reshape", "new_zeros", "new_ones", "new_empty"})
_ONE_HOT = "torch.nn.functional.one_hot"


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    if isinstance(use, Index):
        yield from _indexed(use, setting)
    elif isinstance(use, Call):
        yield from _operator(use, setting)
        if not setting.switches.capture_scalar_outputs:
            yield from _size(use, setting)


def _indexed(use: Index, setting: Setting) -> Iterator[Broken]:
    if not use.index.is_tensor:
        return
    if use.value.sort is Sort.SEQUENCE and not use.is_slice and not setting.switches.capture_scalar_outputs:
        yield Broken("sequence-index", "GB0124", use.node, "which element of the list is taken is a tensor's value")
    if not use.value.is_tensor:
        return
    if use.is_slice:
        if not setting.switches.capture_scalar_outputs:
            yield Broken("tensor-slice", "GB0124", use.node, "a bound of the slice is a tensor's value")
    elif use.index.is_mask:
        if not setting.switches.capture_dynamic_output_shape_ops:
            yield Broken(
                "boolean-mask", "GB0036", use.node, "how many elements a boolean mask selects is known at run time only"
            )
    elif use.index.is_scalar and not setting.switches.capture_scalar_outputs:
        yield Broken("tensor-index", "GB0033", use.node, "the index is a tensor's value")


def _operator(use: Call, setting: Setting) -> Iterator[Broken]:
    name = use.name.removeprefix("torch.") if use.name.startswith("torch.") else ""
    receiver = use.receiver
    is_method = receiver is not None and (
        receiver.is_tensor
        or (receiver.sort is Sort.UNKNOWN and use.method not in _ONLY_OF_TORCH and use.method != "unique")
    )
    operator = name or (use.method if is_method else "")
    captures = setting.switches.capture_dynamic_output_shape_ops
    if operator in _OPERATORS and not captures:
        sentence = f"the shape of what `{operator}` gives depends on the tensor's values"
        yield Broken("dynamic-shape", "GB0036", use.node, sentence)
    elif operator == "where" and name and len(use.positional) == 1 and not use.named and not captures:
        yield Broken(
            "dynamic-shape",
            "GB0036",
            use.node,
            "`torch.where` with one argument is `nonzero`: its shape depends on values",
        )
    elif operator == "repeat_interleave" and not captures and "output_size" not in use.named:
        repeats = use.positional[1:2] if name else use.positional[:1]
        if any(value.is_tensor for value in (*repeats, *_of(use, "repeats"))):
            yield Broken(
                "repeat-interleave", "GB0036", use.node, "how often each element is repeated is a tensor's value"
            )
    elif use.name == _ONE_HOT and len(use.positional) == 1 and "num_classes" not in use.named:
        yield Broken("one-hot", "GB0246", use.node, "without `num_classes` the number of classes is a tensor's value")
    elif use.name in _COMPARING:
        yield Broken(
            "tensor-equality", "GB0033", use.node, f"`{use.name}` gives a Python bool, which needs the tensors' values"
        )


def _size(use: Call, setting: Setting) -> Iterator[Broken]:
    is_method = use.receiver is not None and use.receiver.is_tensor and use.method in _SIZE_METHODS
    if use.name in _SIZES or is_method:
        sizes = [value for value in use.positional if value.is_tensor and value.is_scalar]
        if sizes:
            yield Broken(
                "tensor-as-size", "GB0033", use.node, f"a size in `{setting.short(use.node)}` is a tensor's value"
            )
    elif use.name == "builtins.range" and any(value.is_tensor for value in use.positional):
        yield Broken("range-of-tensor", "GB0059", use.node, "`range` needs the tensor's value")
    elif use.name == "builtins.sorted" and use.positional and _holds_tensors(use.positional[0]):
        yield Broken("sort-by-tensor", "GB0207", use.node, "`sorted` compares the values of tensors")


def _holds_tensors(value: Value) -> bool:
    return value.sort is Sort.SEQUENCE and value.each is not None and value.each.is_tensor


def _of(use: Call, name: str) -> tuple[Value, ...]:
    return (use.named[name],) if name in use.named else ()
