"""Higher-order operators: what they ask of their arguments and of the functions that they are given."""

import torch
from torch._higher_order_ops.while_loop import while_loop

from _attempt import attempt

X = torch.ones(4)
cond_op = torch.ops.higher_order.cond
while_op = torch.ops.higher_order.while_loop
scan_op = torch.ops.higher_order.scan
associative_scan_op = torch.ops.higher_order.associative_scan
map_op = torch.ops.higher_order.map_impl


@attempt(X)
def gb0309(x):
    return cond_op(x.sum() > 0, torch.sin, torch.cos)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0309


@attempt(X)
def gb0311(x):
    return cond_op(x.sum() > 0, torch.sin, torch.cos, x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0311


@attempt(X)
def gb0314(x):
    return torch.cond(x.sum() > 0, lambda a: "text", lambda a: "other", (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0314


@attempt(X)
def gb0302(x):
    return cond_op(x.sum() > 0, 1, torch.cos, (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0302


@attempt(X)
def gb0040(x):
    return torch.cond(x.sum() > 0, lambda a: a, lambda a: a.sin(), (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0040


@attempt(X)
def gb0041(x):
    return torch.cond(x.sum() > 0, lambda a: a.add_(1), lambda a: a.sin(), (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0041


SEEN = []


def remembers(a):
    SEEN.append(1)
#   ^^^^^^^^^^^^^^ higher-order-op-error/GB0067
    return a.sin()


@attempt(X)
def gb0067(x):
    return torch.cond(x.sum() > 0, remembers, torch.cos, (x,))


def branches(a):
    return a.sin() if a.sum() > 0 else a.cos()
#                     ^^^^^^^^^^^ higher-order-op-error/GB0170


@attempt(X)
def gb0170_cond(x):
    return torch.cond(x.sum() > 0, branches, torch.cos, (x,))


def breaks(a):
    torch._dynamo.graph_break()
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0025 x2
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0025
    return a.sin()


@attempt(X)
def gb0025_cond(x):
    return torch.cond(x.sum() > 0, breaks, torch.cos, (x,))


@attempt(X)
def gb0149(x):
    return torch.vmap(breaks)(x)
#          ^^^^^^^^^^^^^^^^^^^^^ GB0149


@attempt(X)
def gb0304(x):
    return while_op(lambda a: a.sum() < 9, lambda a: (a + 1,), (x,), x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0304


@attempt(X)
def gb0308(x):
    return while_loop(lambda a: a < 9, lambda a: (a + 1,), (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0308


@attempt(X)
def gb0339(x):
    return while_loop(lambda a: True, lambda a: (a + 1,), (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0339


@attempt(X)
def gb0315(x):
    return associative_scan_op(torch.add, 5, ())
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0315


@attempt(X)
def gb0316(x):
    return associative_scan_op(torch.add, [x], x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0316


@attempt(torch.ones(0, 2))
def gb0317_op(x):
    return associative_scan_op(lambda a, b: (a + b,), [x], ())
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0317


@attempt(X)
def gb0342(x):
    return scan_op(5, [x], [x], ())
#          ^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0342


@attempt(X)
def gb0325(x):
    return map_op(torch.sin, [x], [], other=3)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0325


@attempt(X)
def gb0337(x):
    return torch.ops.higher_order.strict_mode(torch.sin, (x,), other=3)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0337


@attempt(X)
def gb0335(x):
    return torch.ops.higher_order.hints_wrapper(torch.sin, (x,), {}, 1, hints={"a": 1})
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0335


@attempt(X)
def gb0336(x):
    return torch.ops.higher_order.out_dtype(torch.ops.aten.mm.default, torch.int32, x, x, other=1)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0336


@attempt(X)
def gb0330(x):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(True, torch.sin, x, other=1)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0330


@attempt(X)
def gb0331(x):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(x, torch.sin, x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0331


@attempt(X)
def gb0332(x):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(True, lambda a: a + x, x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0332


@attempt(X)
def gb0333(x):
    return torch.ops.higher_order.wrap_with_autocast("cpu", None, True, None, torch.sin, x, other=1)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0333


@attempt(X)
def gb0334(x):
    return torch.ops.higher_order.wrap_with_autocast("cpu", None, True, None, lambda a: a + x, x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0334


@attempt(X)
def gb0344(x):
    return torch.ops.higher_order.wrap_with_autocast(x, None, True, None, torch.sin, x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0344


@attempt(X)
def gb0306(x):
    return torch.ops.higher_order.flat_apply(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0306 x2


@torch.compiler.nested_compile_region
def region(a):
    return a.sin()


@attempt(X)
def gb0017(x):
    return torch.ops.higher_order.invoke_subgraph(region, "name", x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0017 x4
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0208


@torch._dynamo.nonstrict_trace
def opaque(a):
    return a.sin()


class Plain:
    pass


@attempt(X, Plain())
def gb0236(x, plain):
    return opaque(plain)
#          ^^^^^^^^^^^^^ GB0236


@torch._dynamo.nonstrict_trace
def returns_object(a):
    return Plain()


@attempt(X)
def gb0251(x):
    return returns_object(x)
#          ^^^^^^^^^^^^^^^^^ GB0251


@attempt(X)
def gb0078(x):
    return torch._dynamo.nonstrict_trace(lambda a: a)(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0078
