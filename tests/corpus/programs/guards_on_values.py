"""Calls that fail a guard on a value: one kind of guard each."""

import enum
import functools

import torch

X = torch.ones(4)


# program: by_int
@torch.compile(backend="eager")
def by_int(x, width):
#             ^^^^^ recompile
    return x.reshape(width, -1) if width < 3 else x


by_int(X, 1)
by_int(X, 4)


# program: by_float
@torch.compile(backend="eager")
#1-32 not-compiled
def by_float(x, rate):
    return x * 2 if rate > 0.5 else x


by_float(X, 0.25)
by_float(X, 0.75)


# program: by_dtype_argument
@torch.compile(backend="eager")
def by_dtype_argument(x, kind):
#                        ^^^^ recompile
    return x.to(kind)
#   ^^^^^^^^^^^^^^^^^ float64


by_dtype_argument(X, torch.float64)
by_dtype_argument(X, torch.int32)


# program: by_enum
class Reduction(enum.Enum):
    SUM = "sum"
    MEAN = "mean"


@torch.compile(backend="eager")
def by_enum(x, reduction):
#              ^^^^^^^^^ recompile
    return x.sum() if reduction is Reduction.SUM else x.mean()


by_enum(X, Reduction.SUM)
by_enum(X, Reduction.MEAN)


# program: by_slice_argument
@torch.compile(backend="eager")
def by_slice_argument(x, part):
#                        ^^^^ recompile
    return x[part] * 2


by_slice_argument(X, slice(0, 2))
by_slice_argument(X, slice(0, 3))


# program: by_range
@torch.compile(backend="eager")
def by_range(x, steps):
#               ^^^^^ recompile
    for step in steps:
#               ^^^^^ GB4841
        x = x + step
    return x


by_range(X, range(2))
by_range(X, range(4))


# program: by_range_iterator
@torch.compile(backend="eager")
def by_range_iterator(x, it):
#                        ^^ recompile
    for step in it:
#   ^^^^^^^^^^^^^^^ side-effect x2
        x = x * (step + 1)
    return x


by_range_iterator(X, iter(range(2)))
by_range_iterator(X, iter(range(4)))


# program: by_tuple_iterator
@torch.compile(backend="eager")
def by_tuple_iterator(x, parts):
#                        ^^^^^ recompile
    return x + sum(parts)


by_tuple_iterator(X, iter((1, 2)))
by_tuple_iterator(X, iter((1, 2, 3)))


# program: by_set_member
@torch.compile(backend="eager")
def by_set_member(x, enabled):
#                    ^^^^^^^ recompile
    return x.sin() if "sin" in enabled else x.cos()


by_set_member(X, {"sin", "tan"})
by_set_member(X, {"tan"})


# program: by_missing_key
@torch.compile(backend="eager")
def by_missing_key(x, options):
#                     ^^^^^^^ recompile
    if "bias" in options:
        x = x + options["bias"]
    return x * 2


by_missing_key(X, {})
by_missing_key(X, {"bias": 1})


# program: by_nested_value
@torch.compile(backend="eager")
def by_nested_value(x, config):
#                      ^^^^^^ recompile
    return x * config["layers"][1]["scale"]


by_nested_value(X, {"layers": [{"scale": 1}, {"scale": 2}]})
by_nested_value(X, {"layers": [{"scale": 1}, {"scale": 5.5}]})


# program: by_partial
@torch.compile(backend="eager")
def by_partial(x, function):
#                 ^^^^^^^^ recompile
    return function(x) + 1


by_partial(X, functools.partial(torch.add, other=1))
by_partial(X, functools.partial(torch.mul, other=1))


# program: by_function
@torch.compile(backend="eager")
def by_function(x, activation):
#                  ^^^^^^^^^^ recompile
    return activation(x)


by_function(X, torch.sin)
by_function(X, torch.cos)


# program: by_lambda
@torch.compile(backend="eager")
def by_lambda(x, activation):
#                ^^^^^^^^^^ recompile
    return activation(x)


by_lambda(X, lambda a: a + 1)
by_lambda(X, lambda a: a * 2)


# program: by_bound_method
class Scaler:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by
#                  ^^^^^^^ recompile


@torch.compile(backend="eager")
def by_bound_method(x, method):
    return method(x)


by_bound_method(X, Scaler(2).apply)
by_bound_method(X, Scaler(3).apply)


# program: by_class
class Left:
    scale = 1


class Right:
    scale = 2


@torch.compile(backend="eager")
def by_class(x, kind):
#               ^^^^ recompile
    return x * kind.scale


by_class(X, Left)
by_class(X, Right)


# program: by_default
def shifted(x, by=1):
    return x + by
#              ^^ recompile


@torch.compile(backend="eager")
def by_default(x):
    return shifted(x)


by_default(X)
shifted.__defaults__ = (7,)
by_default(X)


# program: by_bytes
@torch.compile(backend="eager")
def by_bytes(x, tag):
#               ^^^ recompile
    return x + 1 if tag == b"a" else x - 1


by_bytes(X, b"a")
by_bytes(X, b"b")
