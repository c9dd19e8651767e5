"""Hostile and varied inputs in one program: each region is asked for on its own."""

import dataclasses
import functools
from collections import OrderedDict, namedtuple

import numpy as np
import torch
from torch import nn

SCALE = 4 * 0.5
Pair = namedtuple("Pair", "a b")
TABLE = {"x": torch.arange(6).reshape(2, 3)}


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor
    mask: "torch.Tensor | None" = None
    size: int = 3


class Box:
    def __init__(self, value):
        self.value = value


def helper(x, scale=SCALE):
    return x * scale


def outer(n):
    offset = torch.full((3,), 2.0)

    class Local(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = nn.Linear(3, width)

        def forward(self, x):
            return helper(self.linear(x)) + n

        def method(self, x, *, flag):
            return self.linear(x) if flag else x

    def nested(x):
        return (x + offset) * n

    return Local(5), nested


local, nested = outer(7)


def kinds(batch, pair, box, *rest, options=None, **more):
    y = batch.tokens + pair.a + box.value + TABLE["x"].sum()
    if options["deep"][0] is None:
        y = y + more["extra"].sum()
    return {"y": y, "n": rest[0]}


module = torch.compile(local, backend="eager")
module.eval()
module(torch.randn(2, 3))
torch.compile(local.method, backend="eager")(torch.randn(2, 3), flag=True)
torch.compile(nested, backend="eager")(torch.randn(4, 3))
torch.compile(lambda x: x.relu() + 1, backend="eager")(torch.randn(3, 4).t())
torch.compile(kinds, backend="eager", dynamic=True)(
    Batch(torch.randint(0, 9, (4, 3)), torch.ones(4, 4).tril().bool()),
    Pair(1, torch.zeros(3, dtype=torch.float16)),
    Box(torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last).sum()),
    3,
    options={"deep": (None, ["s", 1.5, slice(1, 2)])},
    extra=torch.randn(1, 3).expand(4, 3),
)
torch.compile(lambda g: sum(g), backend="eager")(iter([torch.ones(2), torch.ones(2)]))
torch.compile(lambda s: s.to_dense() + 1, backend="eager")(torch.eye(3).to_sparse())
torch.compile(lambda c: c.abs(), backend="eager")(torch.randn(3, dtype=torch.complex64))
torch.compile(lambda v, i: v.ravel()[i], backend="eager")(np.arange(5.0), 2)
seq = torch.compile(
    nn.Sequential(OrderedDict(a=nn.Linear(3, 3), b=nn.Dropout(0.5))).requires_grad_(False).double(), backend="eager"
)
seq(torch.randn(2, 3, dtype=torch.float64))
torch.compile(functools.partial(helper, scale=3.0), backend="eager")(torch.ones(2))
