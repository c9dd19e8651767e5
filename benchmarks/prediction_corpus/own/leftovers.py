"""What is left in code after debugging and from before torch.compile: short helpers, each with something of that kind."""

from __future__ import annotations

import copy
import datetime
import gc
import json
import logging
import math
import os
import pickle
import sys
import threading
import uuid
import warnings

import torch
import torch.nn.functional as F

_lock = threading.Lock()


def deprecated(x):
    warnings.warn("use the new one", DeprecationWarning, stacklevel=2)
    return x + 1


def progress(x):
    sys.stdout.write(f"{tuple(x.shape)}\n")
    y = x * 2
    sys.stderr.flush()
    return y


def reported(x):
    sys.stderr.write("here\n")
    logging.info("shape %s", x.shape)
    return x + 1


def reported_late(x):
    y = x.sin()
    logging.debug("done")
    return y


def alarmed(x):
    if x.shape[0] > 2:
        logging.warning("large")
    return x.cos()


def stopped(x):
    y = x + 1
    breakpoint()
    return y


def stopped_in_loop(xs):
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    breakpoint()
    return total


def stopped_twice(x):
    breakpoint()
    x = x + 1
    breakpoint()
    return x


def frozen(x):
    best = copy.deepcopy(x)
    return best * 2


def kept(parts):
    parts = [part + 1 for part in parts]
    saved = copy.deepcopy(parts)
    return saved[0] + parts[0]


def shallow(x):
    return copy.copy(x + 1)


def step(w, x):
    loss = (x @ w).sum()
    loss.backward()
    return w.grad


def two_losses(w, x):
    first = (x @ w).sum()
    first.backward()
    return first.detach()


def hessian_vector(w, v):
    loss = (w**3).sum()
    (g,) = torch.autograd.grad(loss, w, create_graph=True)
    (hv,) = torch.autograd.grad((g * v).sum(), w)
    return hv


def same(a, b):
    if torch.equal(a, b):
        return a
    return a + b


def close(a, b):
    done = torch.allclose(a, b)
    return a if done else b


def bounded(x):
    assert (x >= 0).all(), f"negative: {x.shape}"
    assert x.max() < 10, "no more than %d" % 10
    return x.sqrt()


def classes(labels):
    return F.one_hot(labels).float().mean(0)


def targets(labels):
    hot = F.one_hot(labels)
    return hot * 0.9 + 0.1


def smoothed(labels):
    return F.one_hot(labels.long()).sum()


def stretched(x, lengths: torch.Tensor):
    return torch.repeat_interleave(x, lengths)


def upsampled(x, lengths: torch.Tensor):
    return x.repeat_interleave(lengths, dim=0)


def expanded(x, counts: torch.Tensor):
    rows = torch.repeat_interleave(torch.arange(x.shape[0]), counts)
    return x[rows]


def prefix(x):
    end = x.argmax()
    return x[:end]


def suffix(x):
    start = (x > 0.5).sum()
    return x[start:]


def window(x):
    middle = x.argmax()
    return x[middle : middle + 1]


def peak(x):
    return x[x.argmax()]


def partner(x, y):
    best = y.argmin()
    return x[best] + 1


def root(x):
    return x / math.sqrt(x.sum())


def entropy(x):
    return math.log(x.mean()) + x


def tagged(x):
    name = str(uuid.uuid4())
    return x * len(name)


def stored(x):
    data = pickle.dumps({"shape": tuple(x.shape)})
    gc.collect()
    return x * len(data)


def dated(x):
    today = datetime.datetime.now()
    return x * today.year + len(json.dumps({"a": 1}))


def reseeded(x):
    torch.manual_seed(1)
    y = x + torch.rand_like(x)
    torch.manual_seed(2)
    return y


def guarded_by_lock(x):
    with _lock:
        return x + 1


def read(x):
    with open(os.devnull) as file:
        return x + len(file.read())


def listed(x):
    return x + len(os.listdir("."))


def exists(x):
    if os.path.isfile("nothing.pt"):
        return x
    return x + os.getpid() * 0


def arange_to(x):
    return torch.arange(x.max())


def buffer_for(lengths):
    return torch.zeros(lengths.max())


def looped(x, n: torch.Tensor):
    for _ in range(n.max()):
        x = x + 1
    return x


def any_large(parts: list[torch.Tensor]):
    if any(part.sum() > 1 for part in parts):
        return parts[0]
    return parts[1]


def all_true(flags: torch.Tensor):
    return flags + 1 if all(flags) else flags


def either(flags: torch.Tensor):
    return flags.float() if any(flags) else flags


def named(x):
    return x * len(str(x))


_x = torch.tensor([0.2, 0.9, 0.4])
_labels = torch.tensor([0, 2, 1])
_lengths = torch.tensor([1, 2, 1])
CASES = {
    **{
        name: lambda: (_x.clone(),)
        for name in (
            "deprecated progress reported reported_late alarmed stopped stopped_twice frozen shallow bounded prefix suffix "
            "window peak root entropy tagged stored dated reseeded guarded_by_lock read listed exists named"
        ).split()
    },
    **{name: lambda: (_labels.clone(),) for name in ("classes", "targets", "smoothed", "arange_to", "buffer_for")},
    **{name: lambda: (_x.clone(), _lengths.clone()) for name in ("stretched", "upsampled", "expanded", "looped")},
    **{name: lambda: (_x.clone(), _x.clone() + 1) for name in ("same", "close", "partner")},
    **{name: lambda: (torch.tensor([True, False]),) for name in ("all_true", "either")},
    "stopped_in_loop": lambda: ([_x, _x],),
    "kept": lambda: ([_x, _x],),
    "any_large": lambda: ([_x, _x],),
    "step": lambda: (torch.ones(3, requires_grad=True), torch.ones(2, 3)),
    "two_losses": lambda: (torch.ones(3, requires_grad=True), torch.ones(2, 3)),
    "hessian_vector": lambda: (torch.ones(3, requires_grad=True), torch.ones(3)),
}

# ruff: noqa  (programs as their authors write them)
