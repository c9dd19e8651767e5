"""Rules for code that needs the values of a tensor while Dynamo traces, or that changes a tensor object.

Verified on torch 2.13, each with the code given. No breaks there:

* ``.numpy()``: numpy is traced as tensors, and ``.tolist()`` of the result breaks in the same way; ``assert tensor``;
* ``x[mask] = value``, ``torch.where`` with three arguments, ``torch.histc`` and ``torch.multinomial``;
* ``x.register_hook``, ``nn.Parameter(x)`` and ``x.data_ptr()``.

With ``capture_scalar_outputs`` neither ``.item()`` nor ``int(x)`` breaks, ``.tolist()`` breaks for floating point only, and a condition
on a number that came from a tensor breaks. With ``capture_dynamic_output_shape_ops`` the operators with GB0036 do not break.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions import vocabulary
from compile_lens.syntax.predictions.prediction import RuleContext, RuleMatch
from compile_lens.syntax.predictions.uses import Branch, CallUse, Index, SetAttribute, Use
from compile_lens.syntax.predictions.values import AbstractValue, ValueSort

_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool"})
_COMPARING = frozenset({"torch.equal", "torch.allclose", "torch.is_nonzero"})
_OPERATORS = frozenset(
    {"nonzero", "unique", "unique_consecutive", "masked_select", "argwhere", "bincount", "combinations"}
)
_ONLY_OF_TORCH = frozenset({"argwhere", "bincount", "combinations"})
_ONE_HOT = "torch.nn.functional.one_hot"
_METHODS = {
    "backward": ("backward", "GB0123", "Dynamo does not trace `backward`"),
    "resize_": ("tensor-resize", "GB0148", "`resize_` changes the tensor's storage"),
    "set_": ("tensor-resize", "GB0148", "`set_` changes the tensor's storage"),
}


def find(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    yield from _values(use, context)
    yield from _shapes(use, context)
    yield from _state(use, context)


def _values(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    captures = context.switches.capture_scalar_outputs
    if isinstance(use, Branch):
        if use.value.is_tensor or use.value.sort is ValueSort.UNBACKED:
            sentence = f"the branch depends on the value of `{context.short(use.node)}`"
            yield RuleMatch("tensor-branch", "GB0170", use.node, sentence)
    elif isinstance(use, Index):
        if use.index.is_tensor and use.value.sort is ValueSort.SEQUENCE and not captures:
            yield RuleMatch("sequence-index", "GB0124", use.node, "the index into the list is a tensor's value")
    elif isinstance(use, CallUse):
        if use.name in _COMPARING:
            sentence = f"`{use.name}` returns a Python bool, which needs the tensors' values"
            yield RuleMatch("tensor-equality", "GB0033", use.node, sentence)
        elif not captures:
            yield from _converted(use, context)


def _converted(use: CallUse, context: RuleContext) -> Iterator[RuleMatch]:
    if use.method in ("item", "tolist") and use.receiver is not None and not use.positional:
        yield from _converted_by_method(use, use.receiver, context)
    if use.name in _NUMBERS and use.positional and use.positional[0].is_tensor:
        yield RuleMatch("tensor-to-number", "GB0124", use.node, f"`{context.short(use.node)}` needs the tensor's value")


def _converted_by_method(use: CallUse, receiver: AbstractValue, context: RuleContext) -> Iterator[RuleMatch]:
    is_tensor = receiver.sort in (ValueSort.TENSOR, ValueSort.ARRAY) or (
        receiver.sort is ValueSort.UNKNOWN and use.method in vocabulary.EVIDENT_METHODS
    )
    if not is_tensor:
        return
    written = context.short(use.node)
    if use.method == "tolist":
        yield RuleMatch("tensor-tolist", "GB0109", use.node, f"`{written}` needs the tensor's values")
    elif receiver.sort is ValueSort.ARRAY:
        yield RuleMatch("tensor-item", "GB0033", use.node, f"`{written}` needs the array's value")
    else:
        yield RuleMatch("tensor-item", "GB0124", use.node, f"`{written}` needs the tensor's value")


def _shapes(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    if not isinstance(use, CallUse):
        return
    function = use.name.removeprefix("torch.") if use.name.startswith("torch.") else ""
    receiver = use.receiver
    is_method = receiver is not None and (
        receiver.is_tensor
        or (receiver.sort is ValueSort.UNKNOWN and use.method not in _ONLY_OF_TORCH and use.method != "unique")
    )
    operator = function or (use.method if is_method else "")
    captures = context.switches.capture_dynamic_output_shape_ops
    if operator in _OPERATORS and not captures:
        sentence = f"the output shape of `{operator}` depends on the tensor's values"
        yield RuleMatch("dynamic-shape", "GB0036", use.node, sentence)
    elif function == "where" and len(use.positional) == 1 and not use.named and not captures:
        sentence = "`torch.where` with one argument is `nonzero`: its output shape depends on the tensor's values"
        yield RuleMatch("dynamic-shape", "GB0036", use.node, sentence)
    elif use.name == _ONE_HOT and len(use.positional) == 1 and "num_classes" not in use.named:
        sentence = "without `num_classes` the number of classes depends on the tensor's values"
        yield RuleMatch("one-hot", "GB0246", use.node, sentence)


def _state(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    if isinstance(use, SetAttribute):
        if use.attribute == "requires_grad" and use.receiver.is_tensor:
            sentence = "setting `requires_grad` changes the tensor in place"
            yield RuleMatch("requires-grad-attribute", "GB0206", use.node, sentence)
    elif isinstance(use, CallUse):
        if use.receiver is not None and use.receiver.is_tensor and use.method in _METHODS:
            rule, code, sentence = _METHODS[use.method]
            yield RuleMatch(rule, code, use.node, sentence)
        elif use.name == "torch.autograd.grad" and not context.switches.trace_autograd_ops:
            sentence = "Dynamo traces `torch.autograd.grad` only with `trace_autograd_ops`"
            yield RuleMatch("autograd-grad", "GB9186", use.node, sentence)
