"""Rules for operators whose output shape depends on the values of a tensor.

Verified on torch 2.13. ``x[mask] = value``, ``torch.where`` with three arguments, ``torch.histc`` and ``torch.multinomial`` do not
break. With ``capture_dynamic_output_shape_ops`` the operators with GB0036 do not, either.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import RuleContext, RuleMatch
from compile_lens.syntax.predictions.uses import Call, Use
from compile_lens.syntax.predictions.values import ValueSort

_OPERATORS = frozenset(
    {"nonzero", "unique", "unique_consecutive", "masked_select", "argwhere", "bincount", "combinations"}
)
_ONLY_OF_TORCH = frozenset({"argwhere", "bincount", "combinations"})
_ONE_HOT = "torch.nn.functional.one_hot"


def find(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    if not isinstance(use, Call):
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
