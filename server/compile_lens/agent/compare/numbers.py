"""Judges whether two results are the same numbers, by torch's own rules, and by how much they differ if not.

The rule is that of ``same`` (torch/_dynamo/utils.py, torch 2.6 to 2.13) as the accuracy minifier calls it: equal within
``torch._dynamo.config.repro_tolerance``, or no further from an fp64 reference than twice or three times eager's own error.
"""

from __future__ import annotations

import math
from typing import Any

from ..torch_internals.dynamo import REPRO_TOLERANCE, SAME
from .reference import NotComparable

# what rounding alone explains without a reference: half precision has 8 or 11 bits
LOW_PRECISION_TOLERANCE = 2e-2
BITWISE = "bitwise"
ROUNDING = "rounding"
WRONG = "wrong"


def verdict(eager: Any, compiled: Any, reference: Any, rounds_low: bool = False) -> str:
    """``bitwise``, ``rounding`` or ``wrong``. ``reference`` is the same value computed in fp64, or None.

    ``rounds_low``: something that the value is computed from may be in half precision. Raises NotComparable.
    """
    import torch

    if not isinstance(eager, torch.Tensor) or not isinstance(compiled, torch.Tensor):
        return BITWISE if type(eager) is type(compiled) and _equal(eager, compiled) else WRONG
    if eager.dtype != compiled.dtype or eager.shape != compiled.shape:
        return WRONG
    eager, compiled = eager.detach(), compiled.detach()
    if identical(eager, compiled):
        return BITWISE
    if eager.is_complex():
        exact = torch.view_as_real(reference.resolve_conj()) if reference is not None else None
        return verdict(
            torch.view_as_real(eager.resolve_conj()), torch.view_as_real(compiled.resolve_conj()), exact, rounds_low
        )
    if not eager.is_floating_point():
        return (
            WRONG
            if reference is None or _disagreement(compiled, reference) > 2 * _disagreement(eager, reference)
            else ROUNDING
        )
    if reference is None and (rounds_low or eager.dtype in (torch.float16, torch.bfloat16)):
        # relative to the largest value: small values may be differences of large ones
        scale = float(torch.nan_to_num(eager.abs().max().double(), posinf=0.0))
        off = (eager.double() - compiled.double()).abs()
        return ROUNDING if bool((off <= LOW_PRECISION_TOLERANCE * scale).all()) else WRONG
    same = SAME.get()
    if same is None:
        raise NotComparable("this version of torch has no accuracy check")
    passed = same(
        eager,
        compiled,
        reference.detach() if reference is not None else None,
        tol=float(REPRO_TOLERANCE.get(1e-3)),
        equal_nan=True,
        log_error=lambda *_: None,
    )
    return ROUNDING if passed else WRONG


def identical(one: Any, other: Any) -> bool:
    """Whether two tensors hold the same values; NaN equals NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    one, other = one.detach(), other.detach()
    return bool(((one == other) | ((one != one) & (other != other))).all())


def difference(eager: Any, compiled: Any, reference: Any) -> dict[str, Any]:
    """By how much two values differ, as plain JSON; NaN and infinities are text."""
    import torch

    if not isinstance(eager, torch.Tensor) or not isinstance(compiled, torch.Tensor):
        return {"eager": repr(eager)[:200], "compiled": repr(compiled)[:200]}
    found: dict[str, Any] = {"dtype": _short(eager.dtype), "shape": list(eager.shape)}
    if eager.dtype != compiled.dtype or eager.shape != compiled.shape:
        return {**found, "compiled_dtype": _short(compiled.dtype), "compiled_shape": list(compiled.shape)}
    wide = torch.complex128 if eager.is_complex() else torch.float64
    expected, got = eager.detach().to(wide), compiled.detach().to(wide)
    off = (expected - got).abs()
    off = torch.where(expected.isnan() & got.isnan(), torch.zeros_like(off), off)
    off = torch.where((expected == got), torch.zeros_like(off), off)
    # NaN on one side only is further off than any number
    off = torch.nan_to_num(off, nan=math.inf)
    worst = int(off.flatten().argmax())
    found |= {
        "differ": int((off > 0).sum()),
        "count": off.numel(),
        "max_absolute": _number(off.max()),
        "worst_at": _index(worst, list(eager.shape)),
        "eager": _number(expected.flatten()[worst]),
        "compiled": _number(got.flatten()[worst]),
    }
    if reference is not None:
        exact = reference.detach().to(wide)
        found |= {
            "reference": _number(exact.flatten()[worst]),
            "rmse_eager": _number((exact - expected).abs().square().mean().sqrt()),
            "rmse_compiled": _number((exact - got).abs().square().mean().sqrt()),
        }
    return found


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other) or (one != one and other != other)
    except Exception:  # an object of the user's, whose __eq__ may raise
        return one is other


def _disagreement(value: Any, reference: Any) -> int:
    """How many integers or booleans differ from the reference."""
    return int((value != reference.to(value.dtype)).sum())


def _index(flat: int, shape: list[int]) -> list[int]:
    index: list[int] = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return index[::-1]


def _number(value: Any) -> float | str:
    number = value.item()
    return number if isinstance(number, float) and math.isfinite(number) else str(number)


def _short(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
