"""Rules for code that changes a tensor object or calls autograd: ``backward``, ``requires_grad = …``, ``resize_``.

Verified on torch 2.13. ``x.register_hook``, ``nn.Parameter(x)`` and ``x.data_ptr()`` do not break there.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import RuleContext, RuleMatch
from compile_lens.syntax.predictions.uses import Call, SetAttribute, Use

_METHODS = {
    "backward": ("backward", "GB0123", "Dynamo does not trace `backward`"),
    "resize_": ("tensor-resize", "GB0148", "`resize_` changes the tensor's storage"),
    "set_": ("tensor-resize", "GB0148", "`set_` changes the tensor's storage"),
}


def find(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    if isinstance(use, SetAttribute):
        if use.attribute == "requires_grad" and use.receiver.is_tensor:
            sentence = "setting `requires_grad` changes the tensor in place"
            yield RuleMatch("requires-grad-attribute", "GB0206", use.node, sentence)
    elif isinstance(use, Call):
        if use.receiver is not None and use.receiver.is_tensor and use.method in _METHODS:
            rule, code, sentence = _METHODS[use.method]
            yield RuleMatch(rule, code, use.node, sentence)
        elif use.name == "torch.autograd.grad" and not context.switches.trace_autograd_ops:
            sentence = "Dynamo traces `torch.autograd.grad` only with `trace_autograd_ops`"
            yield RuleMatch("autograd-grad", "GB9186", use.node, sentence)
