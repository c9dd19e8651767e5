import torch
from torch import nn


class Int8Linear(nn.Module):
    def __init__(self, linear):
        super().__init__()
        scale = linear.weight.abs().amax(dim=1, keepdim=True) / 127
        self.register_buffer("weight", (linear.weight / scale).round().to(torch.int8))
        self.register_buffer("scale", scale.squeeze(1))

    def forward(self, x):
        step = x.abs().amax().item() / 127
        quantized = (x / step).round().to(torch.int8)
        return torch._int_mm(quantized, self.weight.t()).float() * self.scale * step


torch.manual_seed(0)
layer = torch.compile(Int8Linear(nn.Linear(64, 64)).cuda())
with torch.no_grad():
    for rows in (32, 32, 64):
        layer(torch.randn(rows, 64, device="cuda"))
