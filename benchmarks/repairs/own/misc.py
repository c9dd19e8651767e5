"""In the style of torch's own tests (test_misc, test_repros, test_unspec)."""

import collections
import contextlib
import functools
import math
import sys
import threading
import uuid

import torch
import torch._dynamo

torch.manual_seed(0)
X = torch.arange(4.0)


# program: break_in_middle
@torch.compile(backend="eager")
def break_in_middle(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


break_in_middle(X)


# program: branch_nested
@torch.compile(backend="eager")
def branch_nested(x):
    if x.sum() > 0:
        if x.max() > 2:
            x = x + 1
    return x


branch_nested(X)


# program: branch_returns_late
@torch.compile(backend="eager")
def branch_returns_late(x):
    if x.sum() < 0:
        return x
    y = x.sin()
    return y + 1


branch_returns_late(X)


# program: branch_two_sides
@torch.compile(backend="eager")
def branch_two_sides(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


branch_two_sides(X, X)
branch_two_sides(X, -X)


# program: branch_many_names
@torch.compile(backend="eager")
def branch_many_names(x):
    if x.mean() > 1:
        low, high = x.min(), x.max()
    else:
        low, high = x.max(), x.min()
    return low - high


branch_many_names(X)


# program: conditional_in_call
@torch.compile(backend="eager")
def conditional_in_call(x):
    return torch.add(x, 1 if x.sum() > 0 else -1)


conditional_in_call(X)


# program: item_in_shape
@torch.compile(backend="eager")
def item_in_shape(x):
    return torch.ones(int(x.sum().item()))


item_in_shape(X)


# program: item_in_comparison
@torch.compile(backend="eager")
def item_in_comparison(x):
    limit = x.max().item()
    return x < limit


item_in_comparison(X)


# program: item_sum_in_loop
@torch.compile(backend="eager")
def item_sum_in_loop(x):
    total = 0.0
    for row in x:
        total += row.item()
    return x * total


item_sum_in_loop(X)


# program: math_on_tensor
@torch.compile(backend="eager")
def math_on_tensor(x):
    return x * math.exp(x.sum())


math_on_tensor(X / 10)


# program: isfinite_check
@torch.compile(backend="eager")
def isfinite_check(x):
    return x if math.isfinite(x.sum()) else torch.zeros_like(x)


isfinite_check(X)


# program: tensor_in_range
@torch.compile(backend="eager")
def tensor_in_range(x, n):
    for _ in range(n):
        x = x + 1
    return x


tensor_in_range(X, torch.tensor(3))


# program: unique_values
@torch.compile(backend="eager")
def unique_values(x):
    return x.unique() * 2


unique_values(X)


# program: nonzero_count
@torch.compile(backend="eager")
def nonzero_count(x):
    return x * len(torch.nonzero(x))


nonzero_count(X)


# program: masked_mean
@torch.compile(backend="eager")
def masked_mean(x):
    return x - x[x > 1].mean()


masked_mean(X)


# program: lock_around
LOCK = threading.Lock()


@torch.compile(backend="eager")
def lock_around(x):
    with LOCK:
        x = x + 1
    return x


lock_around(X)


# program: identifier
@torch.compile(backend="eager")
def identifier(x):
    name = uuid.uuid4().hex
    return x * len(name)


identifier(X)


# program: interpreter_facts
@torch.compile(backend="eager")
def interpreter_facts(x):
    depth = sys.getrecursionlimit()
    return x * (depth > 10)


interpreter_facts(X)


# program: lambda_each_call
@torch.compile(backend="eager")
def lambda_each_call(x, function):
    return function(x) + 1


for _ in range(3):
    lambda_each_call(X, lambda t: t * 2)


# program: partial_each_call
@torch.compile(backend="eager")
def partial_each_call(x, function):
    return function(x) + 1


for n in range(3):
    partial_each_call(X, functools.partial(torch.add, other=n))


# program: compiled_in_loop
def compiled_in_loop(x):
    return x.sin() + 1


for _ in range(3):
    again = torch.compile(compiled_in_loop, backend="eager")
    again(X)


# program: int_argument
@torch.compile(backend="eager", dynamic=False)
def int_argument(x, n):
    return x * n


for n in (2, 3, 4):
    int_argument(X, n)


# program: sizes_past_the_limit
@torch.compile(backend="eager", dynamic=False)
def sizes_past_the_limit(x):
    return x * 2


for n in range(2, 14):
    sizes_past_the_limit(torch.ones(n))


# program: size_one
@torch.compile(backend="eager")
def size_one(x):
    return x * 2


for n in (4, 1, 3):
    size_one(torch.ones(n))


# program: dtype_changes
@torch.compile(backend="eager")
def dtype_changes(x):
    return x * 2


dtype_changes(torch.ones(3))
dtype_changes(torch.ones(3, dtype=torch.float64))


# program: grad_mode
@torch.compile(backend="eager")
def grad_mode(x):
    return x * 2


grad_mode(torch.ones(3))
with torch.no_grad():
    grad_mode(torch.ones(3))


# program: list_grows
@torch.compile(backend="eager")
def list_grows(parts):
    return torch.stack(parts).sum(0)


for n in (1, 2, 3):
    list_grows([X] * n)


# program: counter_global
COUNT = 0


@torch.compile(backend="eager")
def counter_global(x):
    global COUNT
    COUNT += 1
    return x + 1


for _ in range(3):
    counter_global(X)


# program: scale_in_dict
OPTIONS = {"scale": 1.0}


@torch.compile(backend="eager")
def scale_in_dict(x):
    return x * OPTIONS["scale"]


for scale in (1.0, 2.0, 3.0):
    OPTIONS["scale"] = scale
    scale_in_dict(X)


# program: fullgraph_branch
@torch.compile(backend="eager", fullgraph=True)
def fullgraph_branch(x):
    if x.sum() > 0:
        return x.sin()
    return x.cos()


with contextlib.suppress(Exception):
    fullgraph_branch(X)


# program: print_in_loop
@torch.compile(backend="eager")
def print_in_loop(x):
    for number in range(2):
        x = x + number
        print("at", number)
    return x


print_in_loop(X)


# program: hook_on_tensor
@torch.compile(backend="eager")
def hook_on_tensor(x):
    x = x * 2
    x.requires_grad_()
    return x.sin()


hook_on_tensor(X)
