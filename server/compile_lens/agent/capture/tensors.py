"""Describes tensors as data: their layout, and their values where these matter."""

from __future__ import annotations

import os
import sys
from typing import Any

MAX_LISTED = 64
MAX_EXAMINED = 1 << 22


def describe_tensor(tensor: Any, exact_folder: str | None) -> dict[str, Any]:
    """``shape``, ``stride``, ``offset``, ``dtype``, ``device``, ``requires_grad`` and ``values``; or ``why`` it cannot be rebuilt.

    ``values`` has one of: a nested list in ``list``; one number in ``fill``; ``arange`` (start, step); ``tril`` (diagonal, below, above);
    ``file`` (in ``exact_folder``). Else values are drawn from a seed: between ``low`` and ``high`` of integers, with ``chance`` of True,
    with ``mean`` and ``std`` or the bounds of floats.
    """
    torch = sys.modules["torch"]
    problem = _problem(tensor, torch)
    if problem:
        return {"why": problem}
    form: dict[str, Any] = {
        "shape": list(tensor.shape),
        "stride": list(tensor.stride()),
        "offset": tensor.storage_offset(),
        "dtype": str(tensor.dtype),
        "device": str(tensor.device),
        "requires_grad": tensor.requires_grad,
        "parameter": isinstance(tensor, torch.nn.Parameter),
    }
    with torch.no_grad():
        values = tensor.detach()
        if tensor.numel() == 0 or tensor.device.type == "meta":
            return {**form, "values": {"fill": "0"}}
        form["values"] = _values(values.cpu(), torch)
        if exact_folder is not None and ("mean" in form["values"] or "high" in form["values"]):
            form["values"] = {"file": save(values.cpu().contiguous(), exact_folder)}
    return form


def _problem(tensor: Any, torch: Any) -> str:
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
        return f"The tensor subclass `{type(tensor).__qualname__}` is not supported. Only plain tensors can be rebuilt."
    if tensor.layout is not torch.strided:
        return f"A sparse tensor (`{tensor.layout}`) is not supported. Only strided tensors can be rebuilt."
    if tensor.is_quantized:
        return f"A quantized tensor (`{tensor.dtype}`) is not supported."
    if tensor.is_conj() or tensor.is_neg():
        return (
            "A lazily conjugated or negated tensor is not supported. Call `.resolve_conj()` or `.resolve_neg()` first."
        )
    return ""


def _values(values: Any, torch: Any) -> dict[str, Any]:
    if values.numel() > MAX_EXAMINED:
        values = values.flatten()[:MAX_EXAMINED]
    first = values.flatten()[0]
    if bool((values == first).all()):
        return {"fill": _number(first.item())}
    if values.dtype.is_complex:
        return {"mean": 0.0, "std": 1.0}
    if values.dtype.is_floating_point:
        return _floats(values, torch)
    found = _pattern(values, torch) if values.numel() > 6 else {}
    if found:
        return found
    if values.numel() <= MAX_LISTED:
        return {"list": repr(values.tolist())}
    if values.dtype is torch.bool:
        return {"chance": round(values.float().mean().item(), 3), "high": 1}
    return {"low": int(values.min()), "high": int(values.max())}


def _floats(values: Any, torch: Any) -> dict[str, Any]:
    wide = values.double()
    special = not bool(torch.isfinite(wide).all())
    few = values.numel() <= 1 or torch.unique(wide).numel() <= 2
    extreme = bool((wide.abs() > 1e30).any())
    if special or few or extreme:
        found = _pattern(values, torch)
        if found:
            return found
        if values.numel() <= MAX_LISTED * 4:
            return {"list": _number_list(values.tolist())}
    finite = wide[torch.isfinite(wide)]
    if finite.numel() == 0:
        return {"fill": "float('nan')"}
    low, high = finite.min().item(), finite.max().item()
    if low >= 0:
        return {"low": _short(low), "high": _short(high), "mean": 0.0, "uniform": True}
    mean, std = finite.mean().item(), finite.std(unbiased=False).item()
    # a small sample of a normal distribution deviates by chance
    chance = 3 / finite.numel() ** 0.5
    is_normal = abs(mean) < chance and abs(std - 1) < chance
    return {"mean": 0.0, "std": 1.0} if is_normal else {"mean": _short(mean), "std": _short(std)}


def _pattern(values: Any, torch: Any) -> dict[str, Any]:
    if values.dim() == 1 and not values.dtype.is_floating_point and values.dtype is not torch.bool:
        steps = values[1:] - values[:-1]
        if bool((steps == steps[0]).all()):
            return {"arange": [int(values[0]), int(steps[0])]}
    if values.dim() >= 2 and torch.unique(values.double().nan_to_num(1e300)).numel() == 2:
        last = values.reshape(-1, *values.shape[-2:])
        if bool((last == last[0]).all()):
            below, above = last[0, -1, 0], last[0, 0, -1]
            ones = torch.ones(values.shape[-2:], dtype=torch.bool)
            for diagonal in (0, values.shape[-1] - values.shape[-2], -1):
                triangle = torch.where(ones.tril(diagonal), below, above)
                if torch.equal(triangle, last[0]):
                    return {"tril": [diagonal, _number(below.item()), _number(above.item())]}
    return {}


def save(value: Any, folder: str) -> str:
    """Save ``value`` in ``folder``. Returns the name to load it by."""
    name = f"saved_{len(os.listdir(folder))}"
    sys.modules["torch"].save(value, os.path.join(folder, f"{name}.pt"))
    return name


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _number(value: Any) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float({str(value)!r})"
    return repr(value)


def _number_list(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_number_list(item) for item in value)}]"
    return _number(value)
