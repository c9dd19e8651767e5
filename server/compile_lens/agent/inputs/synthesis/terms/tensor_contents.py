"""The text of tensors whose numbers must have a form that random ones do not have: rows that sum to one, ascending numbers, flags."""

from __future__ import annotations

from collections.abc import Callable


def _rows(tensor: str, sizes: tuple[str, ...]) -> str:
    """Positive rows that sum to one."""
    return f"{tensor}.softmax(-1)"


def _ascending(tensor: str, sizes: tuple[str, ...]) -> str:
    """Numbers that ascend along the first dimension and along the last one: either may be time."""
    steps = f"({tensor} == 1)" if tensor.startswith("int") else f"({tensor} < 1)"
    last = ".cumsum(-1)" if len(sizes) > 1 else ""
    return f"{steps}.cumsum(0){last}"


def _flags(tensor: str, sizes: tuple[str, ...]) -> str:
    """Zeros and ones that are no integers."""
    return f"({tensor} < 1).round()"


def _unit(tensor: str, sizes: tuple[str, ...]) -> str:
    """Vectors of length one."""
    return f"torch.nn.functional.normalize({tensor}, dim=-1)"


def _identity(tensor: str, sizes: tuple[str, ...]) -> str:
    """Identity matrices: they are symmetric, positive definite, rotations, and what has an inverse."""
    dtype = tensor.partition("[")[0]
    whole = f"torch.eye({sizes[-1]})" if dtype == "float32" else f"torch.eye({sizes[-1]}, dtype=torch.{dtype})"
    return f"{whole}.expand({', '.join(sizes)})" if len(sizes) > 2 else whole


def _permutation(tensor: str, sizes: tuple[str, ...]) -> str:
    """The numbers below the last size, each of them once."""
    return f"float32{tensor[tensor.index('[') :]}.argsort(-1)"


CONTENTS: dict[str, Callable[[str, tuple[str, ...]], str]] = {
    "rows": _rows,
    "ascending": _ascending,
    "flags": _flags,
    "unit": _unit,
    "identity": _identity,
    "permutation": _permutation,
}
LEAST_RANK = {"identity": 2}
