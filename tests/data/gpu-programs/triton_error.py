import torch
import triton
import triton.language as tl


@triton.jit
def broken_kernel(source, target, size: tl.constexpr):
    offsets = tl.arange(0, size)
    values = tl.load(source + offsets)
    tl.store(target + offsets, values + undefined_name)  # noqa: F821


@torch.compile
def broken(x):
    y = torch.empty_like(x)
    broken_kernel[(1,)](x, y, 64)
    return y


try:
    broken(torch.ones(64, device="cuda"))
except Exception as error:
    print(type(error).__name__)
