"""Regions that compile nothing: each says why, also where ``fullgraph=True`` compiles an empty graph."""

import math

import torch

X = torch.ones(2)


# program: full_without_tensors
@torch.compile(backend="eager", fullgraph=True)
#1-48 not-compiled
def count(n):
    return n + 1


count(3)


# program: full_without_operations
@torch.compile(backend="eager", fullgraph=True)
#1-48 not-compiled
def same(x):
    return x


same(X)
empty = torch.compile(torch.nn.Identity(), backend="eager", fullgraph=True)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not-compiled
empty(X)


# program: builtin_without_tensors
root = torch.compile(math.sqrt, backend="eager")
root(4.0)
#1-10 recompile


# program: under_a_stance
@torch.compile(backend="eager")
#1-32 not-compiled
def doubled(x):
    return x * 2


torch.compiler.set_stance("force_eager")
doubled(X)
torch.compiler.set_stance("default")


# program: comment_behind_a_decorator
class Net(torch.nn.Module):
    @torch.compile(backend="eager")
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not-compiled
# Python ignores where a comment begins
    def forward(self, x):
        return x


Net()(X)
