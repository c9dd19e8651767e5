"""A Triton kernel for a canary: Triton reads a kernel's source from the file that it is in."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def add_one(source: Any, target: Any, size: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803 - Triton's convention
    offsets = tl.arange(0, BLOCK)
    inside = offsets < size
    tl.store(target + offsets, tl.load(source + offsets, mask=inside) + 1, mask=inside)
