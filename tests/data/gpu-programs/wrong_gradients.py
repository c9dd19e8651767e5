# compared
import torch
from torch._inductor import lowering

# the derivative of sin, as Inductor compiles it from here on
lowering.lowerings[torch.ops.aten.cos.default] = lowering.lowerings[torch.ops.aten.sin.default]


@torch.compile
def wave(amplitude):
    return amplitude.sin() * 2


@torch.compile(mode="reduce-overhead")
def replayed(x):
    return (x * 3).tanh().sum(-1)


x = torch.linspace(-2, 2, 4096, device="cuda").reshape(64, 64)
wave(x.clone().requires_grad_()).sum().backward()
for _ in range(3):
    replayed(x)
