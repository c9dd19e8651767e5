"""Exceptions: raised, caught, chained and cleaned up after inside compiled code."""

import contextlib
import logging
import sys
import traceback
import warnings

import torch

X = torch.ones(4)


# program: caught_inside
class TooLarge(ValueError):
    def __init__(self, limit, got):
        super().__init__(f"{got} > {limit}")
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0006
        self.limit = limit


@torch.compile(backend="eager")
def caught_inside(x, limit):
    try:
        if x.shape[0] > limit:
            raise TooLarge(limit, x.shape[0])
        return x + 1
    except TooLarge as error:
        return x * error.limit


caught_inside(X, 2)


# program: break_in_finally
@torch.compile(backend="eager")
def break_in_finally(x):
    try:
        y = x.sin()
    finally:
        print("done")
#       ^^^^^^^^^^^^^ GB0059
    return y + 1


break_in_finally(X)


# program: break_in_except
@torch.compile(backend="eager")
def break_in_except(x, table):
    try:
        scale = table["scale"]
    except KeyError:
        scale = x.max().item()
#               ^^^^^^^^^^^^^^ GB0124
    return x * scale


break_in_except(X, {})


# program: raised_through_a_break
@torch.compile(backend="eager")
def raised_through_a_break(x):
    y = x.cos()
    torch._dynamo.graph_break()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0025
    if y.shape[0] == 4:
        raise RuntimeError("four is not wanted")
#             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0088
    return y


try:
    raised_through_a_break(X)
except RuntimeError as error:
    print(error)


# program: chained
@torch.compile(backend="eager")
def chained(x, key):
#              ^^^ recompile
    try:
        return x[{"first": 0}[key]]
    except KeyError as error:
        raise LookupError(f"no {key}") from error
#             ^^^^^^^^^^^^^^^^^^^^^^^^ GB0088


chained(X, "first")
with contextlib.suppress(LookupError):
    chained(X, "second")


# program: suppressed_inside
@torch.compile(backend="eager")
def suppressed_inside(x, values):
    with contextlib.suppress(IndexError):
        x = x + values[3]
    return x * 2


suppressed_inside(X, [1, 2])


# program: formatted
@torch.compile(backend="eager")
def formatted(x):
    try:
        return x + undefined_name  # noqa: F821
#                  ^^^^^^^^^^^^^^ GB0354
    except NameError:
        text = traceback.format_exc()
    return x * len(text)


formatted(X)


# program: asked_of_sys
@torch.compile(backend="eager")
def asked_of_sys(x):
    try:
        raise ValueError("asked")
    except ValueError:
        kind = sys.exc_info()[0]
    return x + (1 if kind is ValueError else 2)


asked_of_sys(X)


# program: logged_and_warned
log = logging.getLogger("corpus")


@torch.compile(backend="eager")
def logged_and_warned(x):
    log.warning("shape %s", x.shape)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0291
    y = x.sin()
    warnings.warn("look out", stacklevel=2)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0007
    return y


logged_and_warned(X)


# program: assertion
@torch.compile(backend="eager")
def assertion(x):
    assert x.sum() > 0, f"sum of {x.shape}"
#          ^^^^^^^^^^^ GB0170
    return x.sqrt()


assertion(X)


# program: refused_and_handled
@torch.compile(backend="eager", fullgraph=True)
def refused_and_handled(x):
    y = x.tan()
    print(y)
#   ^^^^^^^^ fullgraph-break/GB0059
    return y * 2


try:
    refused_and_handled(X)
except Exception as error:
    print(type(error).__name__)
