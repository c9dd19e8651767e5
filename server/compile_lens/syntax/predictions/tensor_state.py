"""What changes a tensor as an object, or asks autograd: ``backward``, ``requires_grad_``, ``copy.deepcopy``.

Verified on torch 2.13. ``x.register_hook``, ``nn.Parameter(x)`` and ``x.data_ptr()`` do not break there.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, SetAttribute, Use
from compile_lens.syntax.predictions.values import Sort, Value

_METHODS = {
    "backward": ("backward", "GB0123", "`backward` inside the graph is not traced"),
    "requires_grad_": ("requires-grad", "GB0125", "`requires_grad_` changes the tensor itself"),
    "retain_grad": ("retain-grad", "GB0108", "`retain_grad` changes the tensor itself"),
    "resize_": ("tensor-resize", "GB0148", "`resize_` changes the tensor's storage"),
    "set_": ("tensor-resize", "GB0148", "`set_` changes the tensor's storage"),
    "is_inference": ("is-inference", "GB0045", "`is_inference` is not traced"),
    "to_sparse": ("sparse-tensor", "GB0277", "Dynamo has no sparse tensors"),
    "storage_offset": ("storage-offset", "GB0208", "`storage_offset` is not traced"),
}


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    if isinstance(use, SetAttribute):
        if use.attribute == "requires_grad" and use.receiver.is_tensor:
            yield Broken(
                "requires-grad-attribute", "GB0206", use.node, "setting `requires_grad` changes the tensor itself"
            )
    elif isinstance(use, Call):
        if use.receiver is not None and use.receiver.is_tensor and use.method in _METHODS:
            rule, code, sentence = _METHODS[use.method]
            yield Broken(rule, code, use.node, sentence)
        elif use.name == "torch.autograd.grad" and not setting.switches.trace_autograd_ops:
            yield Broken(
                "autograd-grad", "GB9186", use.node, "`torch.autograd.grad` is not traced without `trace_autograd_ops`"
            )
        elif use.name == "copy.deepcopy" and use.positional and _is_or_holds_tensor(use.positional[0]):
            yield Broken("deepcopy", "GB4198", use.node, "`copy.deepcopy` of a tensor is not traced; `clone` is")
        elif use.name == "copy.copy" and use.positional and use.positional[0].is_tensor:
            yield Broken("copy", "GB0208", use.node, "`copy.copy` of a tensor is not traced; `clone` is")


def _is_or_holds_tensor(value: Value) -> bool:
    return value.is_tensor or (value.sort is Sort.SEQUENCE and value.each is not None and value.each.is_tensor)
