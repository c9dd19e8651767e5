"""Private attributes that torch sets on functions, modules and tensors of the user."""

from __future__ import annotations

from typing import Any

# what `mark_dynamic` and its like leave on a tensor
DYNAMIC_MARKS = ("_dynamo_", "_has_dynamo_")


def original_function(function: Any) -> Any:
    """The function that ``torch.compile`` wraps in ``function``; ``function`` itself where it wraps none."""
    return getattr(function, "_torchdynamo_orig_callable", function)


def original_module(module: Any) -> Any:
    """The module in an ``OptimizedModule``; ``module`` itself where it is none."""
    return getattr(module, "_orig_mod", module)


def original_backend(backend: Any) -> Any:
    """The backend that Dynamo wraps in ``backend``, or None."""
    return getattr(backend, "_torchdynamo_orig_backend", None)
