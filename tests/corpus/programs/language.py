"""The language and its library: what Dynamo traces, and what it leaves to Python."""

import collections
import copy
import enum
import functools
import inspect
import itertools
import json
import operator
import random
import re
import sys
import threading
import typing
import weakref

import torch

X = torch.ones(4)


# program: tensor_as_key
@torch.compile(backend="eager")
def tensor_as_key(x, names):
    table = {tensor: name for tensor, name in zip([x, x + 1], names)}
    return x * len(table)


tensor_as_key(X, ("a", "b"))


# program: sorted_by_value
@torch.compile(backend="eager")
def sorted_by_value(rows):
    ordered = sorted(rows, key=lambda row: row.sum().item())
#                                          ^^^^^^^^^^^^^^^^ GB0124 x2
    return torch.stack(ordered)


sorted_by_value([X, X * 3, X * 2])


# program: evaluated
@torch.compile(backend="eager")
def evaluated(x, text):
    scale = eval(text)
    return x * scale


evaluated(X, "1 + 1")


# program: read_locals
@torch.compile(backend="eager")
def read_locals(x, scale):
    names = sorted(locals())
    return x * len(names) * scale


read_locals(X, 2)


# program: matched
class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@torch.compile(backend="eager")
def matched(x, command):
#              ^^^^^^^ recompile
    match command:
        case ["scale", int(by)]:
            return x * by
        case {"mode": Mode.SLOW}:
            return x.sin().cos()
        case _:
            return x


matched(X, ["scale", 3])
matched(X, {"mode": Mode.SLOW})


# program: regular_expression
@torch.compile(backend="eager")
def regular_expression(x, name):
    found = re.match(r"layer(\d+)", name)
    return x * int(found.group(1))


regular_expression(X, "layer12")


# program: as_json
@torch.compile(backend="eager")
def as_json(x, settings):
    text = json.dumps(settings, sort_keys=True)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0156
    return x * len(text)


as_json(X, {"a": 1})


# program: signature
def helper(x, scale=2, *, shift=0):
    return x * scale + shift


@torch.compile(backend="eager")
def signature(x):
    names = list(inspect.signature(helper).parameters)
    return helper(x, shift=len(names))


signature(X)


# program: iterators
@torch.compile(backend="eager")
def iterators(x, widths):
    total = x
    for left, right in itertools.pairwise(itertools.accumulate(widths)):
        total = total + (right - left)
    return functools.reduce(operator.add, [total, *itertools.islice(itertools.repeat(x), 2)])


iterators(X, (1, 2, 3))


# program: bounded_queue
@torch.compile(backend="eager")
def bounded_queue(x):
    queue = collections.deque(maxlen=2)
    for step in range(3):
        queue.append(x + step)
    return sum(queue)


bounded_queue(X)


# program: shuffled
@torch.compile(backend="eager")
def shuffled(x):
    order = list(range(4))
    random.shuffle(order)
#   ^^^^^^^^^^^^^^^^^^^^^ GB0007
    return x[order]


shuffled(X)


# program: referenced_weakly
class Holder:
    def __init__(self, value):
        self.value = value


HOLDER = Holder(3)
REFERENCE = weakref.ref(HOLDER)


@torch.compile(backend="eager")
def referenced_weakly(x):
    holder = REFERENCE()
    return x * (holder.value if holder is not None else 1)


referenced_weakly(X)


# program: local_thread_state
STATE = threading.local()
STATE.scale = 2


@torch.compile(backend="eager")
def local_thread_state(x):
    return x * STATE.scale


local_thread_state(X)


# program: descriptor_and_metaclass
class Doubled:
    def __get__(self, instance, owner):
        return instance.base * 2


class Counting(type):
    def __call__(cls, *arguments):
        made = super().__call__(*arguments)
        made.number = 1
        return made


class Settings(metaclass=Counting):
    doubled = Doubled()

    def __init__(self, base):
        self.base = base


@torch.compile(backend="eager")
def descriptor_and_metaclass(x, settings):
    own = Settings(3)
    return x * settings.doubled + own.base


descriptor_and_metaclass(X, Settings(2))


# program: identity
@torch.compile(backend="eager")
def identity(x, seen):
    if id(x) in seen:
        return x
    y = x.exp()
    return y + hash("name") % 2


identity(X, {1})


# program: interactive
@torch.compile(backend="eager")
def interactive(x):
    y = x * 2
    breakpoint()
#   ^^^^^^^^^^^^ GB0059
    return y + 1


sys.breakpointhook = lambda *arguments, **options: None
interactive(X)


# program: named_fields
class Point(typing.NamedTuple):
    first: torch.Tensor
    second: float = 0.5


@torch.compile(backend="eager")
def named_fields(point):
    moved = point._replace(second=2.0)
    return copy.copy(moved).first * moved.second
#          ^^^^^^^^^^^^^^^^ GB0088


named_fields(Point(X))
