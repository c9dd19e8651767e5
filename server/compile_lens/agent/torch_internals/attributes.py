"""Private attributes of objects of torch, and those that torch sets on functions, modules and tensors of the user."""

from __future__ import annotations

import sys
from typing import Any

# what `mark_dynamic` and its like leave on a tensor
DYNAMIC_MARKS = ("_dynamo_", "_has_dynamo_")


# the tables of a module's hooks that are called with it (torch/nn/modules/module.py, ``Module.__init__``, torch 2.6 to 2.13)
HOOKS = (
    "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_backward_pre_hooks", "_backward_hooks",
)  # fmt: skip


def original_function(function: Any) -> Any:
    """The function that ``torch.compile`` wraps in ``function``; ``function`` itself where it wraps none."""
    return getattr(function, "_torchdynamo_orig_callable", function)


def original_module(module: Any) -> Any:
    """The module in an ``OptimizedModule``; ``module`` itself where it is none."""
    return getattr(module, "_orig_mod", module)


def original_backend(backend: Any) -> Any:
    """The backend that Dynamo wraps in ``backend``, or None."""
    return getattr(backend, "_torchdynamo_orig_backend", None)


def copy_tags(backend: Any, registered: Any) -> None:
    """Give ``backend`` the tags that ``registered`` has in Dynamo's table of backends."""
    backend._tags = getattr(registered, "_tags", ())


def is_mutable(operator: Any) -> bool:
    """Whether the schema of an overload says that it changes an argument."""
    return bool(operator._schema.is_mutable)


def attention_operator(backend: str) -> Any:
    """The operator of one of the backends of scaled dot-product attention, or of its gradients: ``flash_attention_backward``."""
    return getattr(sys.modules["torch"].ops.aten, f"_scaled_dot_product_{backend}").default


def compiled_kernel(tuner: Any, configuration: Any) -> Any:
    """What Triton makes of a kernel of Inductor's in one configuration."""
    return tuner._precompile_config(configuration).kernel


def storage_identity(tensor: Any) -> int:
    """The same number for tensors that share a storage."""
    return int(tensor.untyped_storage()._cdata)


def changes_so_far(tensor: Any) -> int:
    """How often ``tensor`` has been changed in place; 0 for one of inference mode, which does not count."""
    return 0 if tensor.is_inference() else int(tensor._version)
