"""The modules that a region's call leads to."""

from __future__ import annotations

from typing import Any

from ..capture.recorder import innermost
from .snapshot import Snapshot


def modules_of(fn: Any, call: Snapshot) -> list[Any]:
    """The module that is compiled or whose method is; else those among the arguments, in the closure and among the globals."""
    import torch

    target = innermost(fn)
    owner = getattr(target, "__self__", target)
    if isinstance(owner, torch.nn.Module):
        return [owner]
    code = getattr(target, "__code__", None)
    near = [leaf for _, leaf in call.leaves()]
    near += [cell.cell_contents for cell in getattr(target, "__closure__", None) or () if _is_filled(cell)]
    names = getattr(target, "__globals__", {})
    near += [names[name] for name in (code.co_names if code is not None else ()) if name in names]
    found = [getattr(value, "_orig_mod", value) for value in near if isinstance(value, torch.nn.Module)]
    return list({id(module): module for module in found}.values())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
