"""torch.autograd: functions with a context, gradients taken inside of the compiled region, hooks."""

import torch

from _attempt import attempt

LEAF = torch.ones(4, requires_grad=True)
X = torch.ones(4)


class NoStatic(torch.autograd.Function):
    forward = torch.sin

    @staticmethod
    def backward(ctx, g):
        return g


@attempt(LEAF)
def gb0346(x):
    return NoStatic.apply(x)
#          ^^^^^^^^^^^^^^^^^ GB0346


class Jvp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t


@attempt(LEAF)
def gb0144(x):
    return Jvp.apply(x)
#          ^^^^^^^^^^^^ GB0144


class Vjp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def vjp(ctx, g):
        return g * 2


@attempt(LEAF)
def gb0145(x):
    return Vjp.apply(x)
#          ^^^^^^^^^^^^ GB0145


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, g):
        return g, g


@attempt(LEAF)
def gb6297_again(x):
    return Pair.apply(x, x)
#          ^^^^^^^^^^^^^^^^ GB6297


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
#       ^^^^^^^^^^^^^^^^^ GB0092
#       ^^^^^^^^^^^^^^^^^ GB2019
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g


@attempt(LEAF)
def gb2464(x):
    return Dirty.apply(x * 1)
#          ^^^^^^^^^^^^^^^^^^ GB2464


class Materialize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx._materialize_non_diff_grads = False
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g


@attempt(LEAF)
def gb0347(x):
    return Materialize.apply(x)
#          ^^^^^^^^^^^^^^^^^^^^ GB0347


class Loud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        print("forward")
#       ^^^^^^^^^^^^^^^^ GB0059 x2
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g


@attempt(LEAF)
def gb0059_function(x):
    return Loud.apply(x)


@attempt(LEAF, config={"trace_autograd_ops": False})
def gb9186(x):
    return torch.autograd.grad((x * 2).sum(), x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB9186


TRACED = {"trace_autograd_ops": True}


@attempt(LEAF, config=TRACED)
def gb7054(x):
    y = x * 2
    y.sum().backward(inputs=[y])
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB7054
    return y


@attempt(LEAF, config=TRACED)
def gb0442(x):
    (x * 2).sum().backward(inputs=[])
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0442
    return x + 1


@attempt(LEAF, config=TRACED)
def gb1042(x):
    y = torch.ones(4).requires_grad_()
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB8985
    (x * y).sum().backward(inputs=[y])
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB1042
    return x + 1


@attempt(LEAF, config=TRACED)
def gb4927(x):
    y = x * 2
    g = torch.autograd.grad(y.sum(), x)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB4927
    return y, g


@attempt(LEAF, config=TRACED)
def gb1381(x):
    y = (x * 2).sum()
    a = torch.autograd.grad(y, x)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^ GB4927
    b = torch.autograd.grad(y, x)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^ GB0372
#       ^^^^^^^^^^^^^^^^^^^^^^^^^ GB1381
    return a, b


OUTSIDE = (LEAF * 2).sum()


@attempt(LEAF, config=TRACED)
def gb0372_global(x):
    return torch.autograd.grad(OUTSIDE + x.sum(), x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0372


@attempt(LEAF, config=TRACED)
def gb6663(x):
    return torch.autograd.grad((x * 2).sum(), "text")
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB6663


@attempt(LEAF, config=TRACED)
def gb1724(x):
    return torch.autograd.grad((x * 2).sum(), {x: 1})
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB1724


EDGE = torch.autograd.graph.get_gradient_edge(LEAF)


@attempt(LEAF, config=TRACED)
def gb5748(x):
    return torch.autograd.grad((x * 2).sum(), EDGE)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB5748


HANDLE = None


@attempt(LEAF)
def gb0100(x):
    global HANDLE
    HANDLE = x.register_hook(lambda g: g * 2)
#   ^^^^^^ GB0100
    return x * 2


@attempt(LEAF, LEAF.register_hook(lambda g: g))
def gb0013(x, handle):
    handle.remove()
#   ^^^^^^^^^^^^^ GB0013
    return x * 2


@attempt(LEAF)
def gb7444(x):
    y = x * 2
    y.register_hook(lambda g: g * 2 if g.is_contiguous() else g)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB7444
    return y
#          ^ GB0013


@attempt(X)
def gb0212(x):
    with torch.profiler.profile() as profiler:
        y = x + 1
    return y, profiler
#          ^^^^^^^^^^^ GB0212


@attempt(X)
def gb0209(x):
    return torch.autograd._unsafe_preserve_version_counter(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0209


@attempt(X)
def gb0165(x):
    return torch.autograd.Variable._execution_engine.is_checkpoint_valid()
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0165


@attempt(X)
def gb0166(x):
    torch.autograd.Variable._execution_engine.queue_callback(lambda: None)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0166
    return x
