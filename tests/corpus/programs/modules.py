"""Modules and contexts: hooks, buffers, counters, modes that are set inside of compiled code."""

import contextlib

import torch
from torch import nn

X = torch.ones(2, 4)


# program: counter_in_forward
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.calls += 1
#       ^^^^^^^^^^ recompile
#       ^^^^^^^^^^^^^^^ side-effect x2
        return self.linear(x)


counting = torch.compile(Counting(), backend="eager")
counting(X)
counting(X)


# program: chosen_by_name
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.ReLU()})

    def forward(self, x, name):
#                        ^^^^ recompile
        return self.experts[name](x)


experts = torch.compile(Experts(), backend="eager")
experts(X, "a")
experts(X, "b")


# program: chosen_by_value
class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(4, 2)
        self.experts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        best = self.router(x).sum(0).argmax()
        return self.experts[best](x)
#              ^^^^^^^^^^^^^^^^^^ GB0124


with contextlib.suppress(Exception):
    torch.compile(Routed(), backend="eager")(X)


# program: hook_with_print
hooked = nn.Linear(4, 4)


def announce(module, given):
    print("called with", given[0].shape)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0059 x2


hooked.register_forward_pre_hook(announce)
torch.compile(hooked, backend="eager")(X)


# program: buffer_that_counts
class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += x.shape[0]
        if self.seen > 100:
#          ^^^^^^^^^^^^^^^ GB0170
            self.seen.zero_()
        return x / self.seen


torch.compile(Running(), backend="eager")(X)


# program: lazy_layer
torch.compile(nn.Sequential(nn.LazyLinear(3), nn.ReLU()), backend="eager")(X)
#1-78 recompile


# program: parametrized
class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).transpose(-1, -2)


parametrized = nn.Linear(4, 4)
nn.utils.parametrize.register_parametrization(parametrized, "weight", Symmetric())
torch.compile(parametrized, backend="eager")(X)
#1-48 recompile


# program: modes_inside
@torch.compile(backend="eager")
def modes_inside(x):
    with torch.no_grad():
        y = x.sin()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = y @ y.t()
    return z.float()


modes_inside(X)


# program: context_of_the_program
@contextlib.contextmanager
def timed(name):
    print("begin", name)
#   ^^^^^^^^^^^^^^^^^^^^ GB0059
    yield
    print("end", name)


@torch.compile(backend="eager")
def context_of_the_program(x):
    with timed("block"):
        y = x.cos()
    return y + 1


context_of_the_program(X)


# program: profiled
@torch.compile(backend="eager")
def profiled(x):
    with torch.profiler.record_function("block"):
        return x.cos()


profiled(X)


# program: state_in_forward
class Saving(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        names = list(self.state_dict())
        return self.linear(x) * len(names)


torch.compile(Saving(), backend="eager")(X)


# program: optimizer_inside
weights = nn.Linear(4, 4)
optimizer = torch.optim.SGD(weights.parameters(), lr=0.1)


@torch.compile(backend="eager")
def optimizer_inside(x):
    optimizer.zero_grad()
#   ^^^^^^^^^^^^^^^^^^^^^ GB0008
    loss = weights(x).pow(2).mean()
    loss.backward()
#   ^^^^^^^^^^^^^^^ GB0123
    optimizer.step()
#   ^^^^^^^^^^^^^^^^ GB0025 x2
    return loss.detach()


optimizer_inside(X)


# program: train_and_eval
dropped = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
compiled_dropped = torch.compile(dropped, backend="eager")
compiled_dropped(X)
#1-20 recompile
dropped.eval()
compiled_dropped(X)
#1-20 recompile


# program: several_methods
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 2)

    @torch.compile(backend="eager")
    def encode(self, x):
        return self.encoder(x)

    @torch.compile(backend="eager")
    def score(self, x):
        encoded = self.encode(x)
        return encoded.max().item()
#              ^^^^^^^^^^^^^^^^^^^^ GB0124


Pair().score(X)
