"""Builtins and the standard library."""

import collections
import contextlib
import functools
import itertools
import logging
import random
import threading
import typing

import torch

from _attempt import attempt

X = torch.ones(4)
LOG = logging.getLogger("corpus")


@attempt(X)
def gb0059(x):
    print(x)
#   ^^^^^^^^ GB0059
    return x + 1


@attempt(X)
def gb0190(x):
    return getattr(x, x)
#          ^^^^^^^^^^^^^ GB0190


@attempt(X)
def gb0193(x):
    return abs(x, x)
#          ^^^^^^^^^ GB0193


@attempt(X)
def gb0134(x):
    return list(itertools.groupby([1, 2], lambda v: 1 // 0))
#               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0134


@attempt(X)
def gb0155(x):
    return list(itertools.groupby([1, 2], wrong=2))
#               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0155


@attempt(X)
def gb0268(x):
    return list(itertools.product([1], other=3))
#               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0268


@attempt(X)
def gb0297(x):
    return x * random.Random(1, 2).random()
#              ^^^^^^^^^^^^^^^^^^^ GB0297


@attempt(X)
def gb0291(x):
    LOG.warning("here")
#   ^^^^^^^^^^^^^^^^^^^ GB0291
    return x + 1


@attempt(X)
def gb0260(x):
    return functools.partial()
#          ^^^^^^^^^^^^^^^^^^^ GB0260


@attempt(X)
def gb0258(x):
    return collections.deque([1], 2, 3)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0258


@attempt(X)
def gb0207(x):
    return sorted([x, x + 1])
#          ^^^^^^^^^^^^^^^^^^ GB0207


@attempt(X)
def gb0207_key(x):
    return sorted([1, 2], key=lambda v: x.sum() * v)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0207


@attempt(X)
def gb0262(x):
    with contextlib.closing(open(__file__)):
#        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0142
#        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0262
#                           ^^^^^^^^^^^^^^ GB0059
        return x + 1


@attempt(X)
def gb0142(x):
    with threading.Lock():
#        ^^^^^^^^^^^^^^^^ GB0007
#        ^^^^^^^^^^^^^^^^ GB0142
        return x + 1


@attempt(X)
def gb0142_object(x):
    with open(__file__):
#        ^^^^^^^^^^^^^^ GB0059
#        ^^^^^^^^^^^^^^ GB0142
        return x + 1


@contextlib.contextmanager
def managed():
    yield 1


@attempt(X, config={"enable_trace_contextlib": False})
def gb0263(x):
    with managed():
#        ^^^^^^^^^ GB0142
#        ^^^^^^^^^ GB0263
        return x + 1


@contextlib.contextmanager
def no_generator():
    return iter([1])


@attempt(X)
def gb0221(x):
    with no_generator():
#        ^^^^^^^^^^^^^^ GB0142
#        ^^^^^^^^^^^^^^ GB0221
        return x + 1


@attempt(X)
def gb2533(x):
    return managed(), x + 1
#          ^^^^^^^^^^^^^^^^ GB2533


@attempt(X)
def gb0007(x):
    import os

    return x + len(os.listdir("."))
#                  ^^^^^^^^^^^^^^^ GB0007


@attempt(X)
def gb0069(x):
    import no_such_module
#   ^^^^^^^^^^^^^^^^^^^^^ GB0069

    return x


@attempt(X)
def gb0156(x):
    return x + len("a".encode("utf-8").hex().zfill(3))
#                  ^^^^^^^^^^^^^^^^^^^^^^^^^ GB0156


@attempt(X)
def gb4501(x):
    number = id([x])
    torch._dynamo.graph_break()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0025
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB4501
    return x + number


@attempt(X)
def gb0025(x):
    torch._dynamo.graph_break()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0025
    return x + 1


@attempt(X)
def gb4297(x):
    torch._dynamo.skip_frame()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^ GB4297
    return x + 1


@attempt(X)
def gb0275(x):
    torch._dynamo.step_unsupported()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0275
    return x + 1


@attempt(X)
def gb0030(x):
    torch._dynamo.comptime.comptime.graph_break()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0030
    return x + 1


@attempt(X)
def gb4393(x):
    return issubclass(x, int)
#          ^^^^^^^^^^^^^^^^^^ GB4393


@attempt(X)
def gb0150(x):
    return hasattr(slice(1), "x"), x
#          ^^^^^^^^^^^^^^^^^^^^^^ GB0150


@attempt(X)
def gb0467(x):
    setattr([1], "x", 3)
#   ^^^^^^^^^^^^^^^^^^^^ GB0467
    return x


@attempt(X)
def gb9137(x):
    return typing.List[x]
#          ^^^^^^^^^^^^^^ GB0007 x5
#          ^^^^^^^^^^^^^^ GB0467 x2
#          ^^^^^^^^^^^^^^ GB9137


@attempt(X)
def gb4347(x):
    return next(5)
#          ^^^^^^^ GB4347


@attempt(X)
def gb0354(x):
    return no_such_name
#          ^^^^^^^^^^^^ GB0354


@attempt(X)
def gb0011(x):
    if x.shape[0] > 9:
        y = 1
    return x + y
#              ^ GB0011


@attempt(X)
def gb8977(x):
    class Local(object, metaclass=type(x)):
#         ^^^^^ GB8977
        pass

    return x


@attempt(X)
def gb0811(x):
    return [*x, *open(__file__)]
#          ^^^^^^^^^^^^^^^^^^^^^ GB0811
#                ^^^^^^^^^^^^^^ GB0059


@attempt(X)
def gb0088(x):
    raise ValueError("none")
#         ^^^^^^^^^^^^^^^^^^ GB0088


@attempt(X)
def gb0050(x):
    try:
        raise ValueError
    except 5:
#          ^ GB0050
        return x


@attempt(X)
def gb0051(x):
    try:
        raise ValueError
    except (x, 3):
#          ^^^^^^ GB0051
        return x


@attempt(X)
def gb0135(x):
    try:
        raise ValueError
    except ValueError as error:
        error.note = 5
#       ^^^^^^^^^^ GB0135
        error.__cause__ = 7
    return x


@attempt(X)
def gb0273(x):
    try:
        raise ImportError("x", name="y")
#             ^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0273
    except ImportError:
        return x + 1


@attempt(X)
def gb9625(x):
    try:
        raise ValueError
    except ValueError as error:
        return x + error.__traceback__.tb_lasti
#                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB9625


@attempt(X)
def gb0299(x):
    import re

    return re.compile("a").match(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^ GB0092
#          ^^^^^^^^^^^^^^^^^^^^^^^^ GB0299
