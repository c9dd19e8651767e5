"""A break where none is allowed, in a helper of a module."""

import torch
from torch import nn


# program: uncaught_fullgraph
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 1)

    def is_open(self, x):
        return self.linear(x).mean() > 0 or x.shape[0] > 2
#              ^^^^^^^^^^^^^^^^^^^^^^^^^ fullgraph-break/GB0170

    def forward(self, x):
        if self.is_open(x):
            return x
        return -x


torch.compile(Gate(), backend="eager", fullgraph=True)(torch.ones(2, 4))
