"""Programs that end by an exception, for the test that none is swallowed.

Each begins with a heading: its name and, after ``::``, words that its error must have. The line that raises, or that stands for what
raises, ends in ``# here``.
"""

from __future__ import annotations

import sys

HEAD = """import sys
import torch
from torch._subclasses.fake_tensor import UnsupportedFakeTensorException


@torch.compile(backend="eager")
def add(x):
    return x + 1


x = torch.ones(3)
add(x)
"""
PROGRAMS = """
### at the top level :: bad step 7
raise ValueError("bad step 7")  # here

### in main :: no shard
def main():
    raise OSError("no shard")  # here
if __name__ == "__main__":
    main()

### without a text :: AssertionError
assert add(x).sum() == 0  # here

### with a text of several lines :: size mismatch for weight
torch.nn.Linear(2, 2).load_state_dict(torch.nn.Linear(3, 2).state_dict())  # here

### from a function behind a break, which Dynamo made with constants that cannot be hashed :: calling .item() on a Tensor
@torch.compile(backend="eager")
def mapped(x):
    return torch.vmap(lambda r: r * r.sum().item())(x)  # here
mapped(torch.ones(2, 2))

### whose text cannot be made :: str() failed
class Bad(Exception):
    def __str__(self):
        raise ValueError
raise Bad  # here

### an exit with a text :: no data: give up
sys.exit("no data: give up")  # here

### an exit with a number :: status 3
raise SystemExit(3)  # here

### an interrupt :: KeyboardInterrupt
raise KeyboardInterrupt  # here

### a module that is missing :: not_here_at_all
import not_here_at_all  # here

### in a hook :: hook key
m = torch.nn.Linear(3, 3)
def hook(*_):
    raise KeyError("hook key")  # here
m.register_forward_hook(hook)
torch.compile(m, backend="eager")(x)

### in a backward pass :: bad backward
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("bad backward")  # here
F.apply(add(x.requires_grad_())).sum().backward()

### in code that is compiled :: inside compiled
@torch.compile(backend="eager")
def f(x):
    y = x + 1
    raise ValueError("inside compiled")  # here
f(x)

### in code that is compiled whole :: inside full
@torch.compile(backend="eager", fullgraph=True)
def f(x):
    y = x + 1
    raise ValueError("inside full")  # here
f(x)

### in a graph that runs :: out of bounds
@torch.compile(backend="eager")
def f(x, i):
    y = x + 1
    return y[i]  # here
f(x, torch.tensor([7]))

### of an operator on fake tensors :: same reduction dim
@torch.compile
def f(a, b):
    return a @ b  # here
f(torch.ones(2, 3), torch.ones(2, 3))

### of a fake implementation :: fake says no
@torch.library.custom_op("swallowed::op", mutates_args=())
def op(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
@op.register_fake
def _(x):
    raise RuntimeError("fake says no")
@torch.compile
def f(x):
    return op(x)  # here
f(x)

### of a backend :: backend zero
def backend(graph, inputs):
    raise ZeroDivisionError("backend zero")
@torch.compile(backend=backend)
def f(x):  # here
    return x + 1
f(x)

### of a backend that breaks :: cannot fake
def backend(graph, inputs):
    raise UnsupportedFakeTensorException("cannot fake")
@torch.compile(backend=backend, fullgraph=True)
def f(x):  # here
    return x + 1
f(x)

### a break that is an error :: error_on_graph_break(True)
@torch.compile(backend="eager")
def f(x):
    with torch._dynamo.error_on_graph_break(True):
        y = x + 1
        print("a")  # here
    return y
f(x)

### a limit that is an error :: error_on_graph_break(True)
torch._dynamo.config.recompile_limit = 1
@torch._dynamo.error_on_graph_break(True)
@torch.compile(backend="eager")
def f(x, s):  # here
    return x + len(s)
for s in ("a", "bb", "ccc"):
    f(x, s)

### a generator that is compiled :: Attempt to trace generator
@torch.compile(backend="eager", fullgraph=True)
def g(x):
    yield x + 1
list(g(x))  # here

### in a branch of cond :: Failed to trace builtin
@torch.compile(backend="eager")
def f(x):
    def yes(x):
        print("a")  # here
        return x.sin()
    return torch.cond(x.sum() > 0, yes, lambda x: x.cos(), (x,))
f(x)

### in a thread of a pool :: pool type
from concurrent.futures import ThreadPoolExecutor
def work(x):
    raise TypeError("pool type")  # here
with ThreadPoolExecutor(1) as pool:
    pool.submit(work, x).result()

### of a coroutine :: socket gone
import asyncio
async def go():
    add(x)
    raise OSError("socket gone")  # here
asyncio.run(go())
"""
# Python 3.11 and later
OF_NEWER_PYTHON = """
### a group :: two bad
raise ExceptionGroup("many", [ValueError("one bad"), TypeError("two bad")])  # here

### with a note :: while reading shard 3
e = ValueError("base")
e.add_note("while reading shard 3")
raise e  # here
"""


def programs() -> dict[str, str]:
    """The programs for this Python, by their headings."""
    text = PROGRAMS + (OF_NEWER_PYTHON if sys.version_info >= (3, 11) else "")
    parts = (part.partition("\n") for part in text.split("\n### ")[1:])
    return {heading: HEAD + body for heading, _, body in parts}
