import torch
from torch import nn


class Int8Linear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        w = torch.randn(n_out, n_in)
        scale = w.abs().amax(1, keepdim=True) / 127
        self.register_buffer("q", (w / scale).round().to(torch.int8))
        self.register_buffer("scale", scale.squeeze(1).to(torch.bfloat16))

    def forward(self, x):
        return nn.functional.linear(x, self.q.to(x.dtype)) * self.scale


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.o = Int8Linear(512, 1024), Int8Linear(512, 1024), Int8Linear(1024, 512)

    def forward(self, x):
        return self.o(nn.functional.silu(self.a(x)) * self.b(x))


g = torch.compile(Gated().cuda())
with torch.no_grad():
    x = torch.randn(4, 512, device="cuda", dtype=torch.bfloat16)
    print(g(x).float().mean().item())
