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


# program: turned_off_by_argument
@torch.compile(backend="eager", disable=True)
#1-46 not-compiled
def tripled(x):
    return x * 3


tripled(X)
halved = torch.compile(lambda x: x / 2, backend="eager", disable=True)
#        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not-compiled
halved(X)
own = torch.nn.Linear(2, 2)
own.compile(backend="eager", disable=True)
#1-43 not-compiled
own(X)


# program: turned_off_by_variable
import os

os.environ["TORCHDYNAMO_DISABLE"] = "1"


@torch.compile(backend="eager")
#1-32 not-compiled
def raised_by_one(x):
    return x + 1


raised_by_one(X)


# program: turned_off_by_option
torch._dynamo.config.disable = True


@torch.compile(backend="eager")
#1-32 not-compiled
def lowered_by_one(x):
    return x - 1


lowered_by_one(X)
