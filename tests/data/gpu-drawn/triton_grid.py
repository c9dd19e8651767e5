import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@torch.compile
def scaled(x, factor):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), factor, BLOCK=64)
    print("scaled")
    return y + 1


for n, factor in ((100, 2.0), (100, 3.0), (130, 3.0)):
    scaled(torch.ones(n, device="cuda"), factor)
