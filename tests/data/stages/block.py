import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, size: int = 64) -> None:
        super().__init__()
        self.before = nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.after = nn.LayerNorm(size)
        self.up = nn.Linear(size, 4 * size)
        self.down = nn.Linear(4 * size, size)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).chunk(3, -1)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v))
        h = F.gelu(self.up(self.after(x)))
        return x + self.down(h)


block = torch.compile(Block())
block(torch.randn(2, 16, 64)).sum().backward()
