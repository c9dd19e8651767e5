import torch
from torch.amp import custom_bwd, custom_fwd


class Scaled(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ctx.factor + 0 * x, None


@torch.compile
def f(x, factor):
    return Scaled.apply(x.sin(), factor).sum()


x = torch.randn(8, device="cuda", requires_grad=True)
for factor in (2, 3):
    with torch.autocast("cuda"):
        f(x, factor).backward()
