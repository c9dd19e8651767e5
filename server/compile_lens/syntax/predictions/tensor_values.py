"""Rules for code that needs the value of a tensor while Dynamo traces: conditions, conversions to numbers and lists, list indices.

Verified on torch 2.13, each with the code given. ``.numpy()`` is no break: numpy is traced as tensors, and ``.tolist()`` of the
result breaks in the same way. ``assert tensor`` is no break either. With ``capture_scalar_outputs`` neither ``.item()`` nor
``int(x)`` breaks, ``.tolist()`` breaks for floating point only, and a condition on a number that came from a tensor breaks.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions import vocabulary
from compile_lens.syntax.predictions.prediction import RuleContext, RuleMatch
from compile_lens.syntax.predictions.uses import Branch, Call, Index, Use
from compile_lens.syntax.predictions.values import AbstractValue, ValueSort

_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool"})
_COMPARING = frozenset({"torch.equal", "torch.allclose", "torch.is_nonzero"})


def find(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    captures = context.switches.capture_scalar_outputs
    if isinstance(use, Branch):
        if use.value.is_tensor or use.value.sort is ValueSort.UNBACKED:
            sentence = f"the branch depends on the value of `{context.short(use.node)}`"
            yield RuleMatch("tensor-branch", "GB0170", use.node, sentence)
    elif isinstance(use, Index):
        if use.index.is_tensor and use.value.sort is ValueSort.SEQUENCE and not captures:
            yield RuleMatch("sequence-index", "GB0124", use.node, "the index into the list is a tensor's value")
    elif isinstance(use, Call):
        if use.name in _COMPARING:
            sentence = f"`{use.name}` returns a Python bool, which needs the tensors' values"
            yield RuleMatch("tensor-equality", "GB0033", use.node, sentence)
        elif not captures:
            yield from _converted(use, context)


def _converted(use: Call, context: RuleContext) -> Iterator[RuleMatch]:
    if use.method in ("item", "tolist") and use.receiver is not None and not use.positional:
        yield from _converted_by_method(use, use.receiver, context)
    if use.name in _NUMBERS and use.positional and use.positional[0].is_tensor:
        yield RuleMatch("tensor-to-number", "GB0124", use.node, f"`{context.short(use.node)}` needs the tensor's value")


def _converted_by_method(use: Call, receiver: AbstractValue, context: RuleContext) -> Iterator[RuleMatch]:
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
