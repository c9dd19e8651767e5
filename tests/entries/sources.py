"""Programs for the tests of entries."""

from __future__ import annotations

MODEL = '''\
"""A model with nothing that runs it."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = Attention(dim, heads)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        if x.sum() > 0:
            x = x * 2
        return x
'''
# the line of `if x.sum() > 0:` in MODEL
BREAK_LINE = 28

KERNELS = """\
import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x, n):
        print(n)
        return self.linear(x) * n


def get_inputs():
    return [torch.randn(4, 5), 2]


def get_init_inputs():
    return [5]
"""

REGION = '''\
import torch


@torch.compile
def scale(x: torch.Tensor, n: int):
    """Scale it.

    >>> scale(torch.ones(3), 2)
    tensor([2., 2., 2.])
    """
    if x.sum() > 0:
        return x * n
    return x
'''

# a module whose constructor has one number, which says who made it
NET_OF_WIDTH = """\
class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = torch.nn.Linear(width, 4)

    def forward(self, x):
        return self.a(x)
"""

# a module that breaks the graph where autocast is on
TELLS_HALF = """\
class Mixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.layer(x)
        if y.dtype == torch.bfloat16:
            print("in half precision")
        return y
"""
