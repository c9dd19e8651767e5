import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=32, length=16):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.register_buffer("k", torch.zeros(1, length, dim))
        self.register_buffer("v", torch.zeros(1, length, dim))
        self.position = 0

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        n = x.shape[1]
        self.k[:, self.position : self.position + n] = k
        self.v[:, self.position : self.position + n] = v
        self.position += n
        return torch.nn.functional.scaled_dot_product_attention(q, self.k[:, : self.position], self.v[:, : self.position])


model = Attention().cuda().eval()
step = torch.compile(model)
with torch.inference_mode():
    step(torch.randn(1, 4, 32, device="cuda"))
    for _ in range(3):
        step(torch.randn(1, 1, 32, device="cuda"))
