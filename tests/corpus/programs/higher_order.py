"""Functions that take functions: control flow in the graph, transforms, checkpoints, custom operators."""

import torch
from torch.utils.checkpoint import checkpoint

X = torch.ones(4)


def attempt(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        print(type(error).__name__)


# program: cond_shapes
@torch.compile(backend="eager")
def cond_shapes(x):
    return torch.cond(x.sum() > 0, lambda a: a[:2], lambda a: a.unsqueeze(0), (x,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0040


attempt(cond_shapes, X)


# program: cond_dtypes
def as_int(a):
    return a.long()


def as_float(a):
    return a.float()


@torch.compile(backend="eager")
def cond_dtypes(x):
    y = x + 1
    return torch.cond(y.sum() > 0, as_int, as_float, (y,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0040


attempt(cond_dtypes, X)


# program: cond_of_python_number
@torch.compile(backend="eager")
def cond_of_python_number(x, flag):
    return torch.cond(flag, torch.sin, torch.cos, (x,))


attempt(cond_of_python_number, X, True)


# program: cond_reads_a_closure
def reader(weight):
    def read(a):
        return a * weight

    return read


@torch.compile(backend="eager")
def cond_reads_a_closure(x, weight):
    return torch.cond(x.max() > 0, reader(weight), lambda a: a + weight, (x,))


attempt(cond_reads_a_closure, X, X)


# program: cond_that_prints
def noisy(a):
    print("in the branch")
#   ^^^^^^^^^^^^^^^^^^^^^^ higher-order-op-error/GB0059
    return a + 1


@torch.compile(backend="eager")
def cond_that_prints(x):
    return torch.cond(x.max() > 0, noisy, lambda a: a - 1, (x,))


attempt(cond_that_prints, X)


# program: vmap_with_item
def scaled(row):
    return row * row.max().item()
#                ^^^^^^^^^^^^^^^^ GB0124 x3


@torch.compile(backend="eager")
def vmap_with_item(x):
    return torch.vmap(scaled)(x)


attempt(vmap_with_item, torch.ones(3, 4))


# program: vmap_and_grad
@torch.compile(backend="eager")
def vmap_and_grad(x):
    return torch.vmap(torch.func.grad(lambda row: (row**2).sum()))(x)


vmap_and_grad(torch.ones(3, 4))


# program: jacobian_of_a_list
@torch.compile(backend="eager")
def jacobian_of_a_list(x):
    return torch.func.jacrev(lambda a: {"out": a * 2})(x)["out"]


attempt(jacobian_of_a_list, X)


# program: checkpoint_with_print
def block(x):
    y = x.sin()
    print("recomputed")
#   ^^^^^^^^^^^^^^^^^^^ GB0059
    return y.cos()


@torch.compile(backend="eager")
def checkpoint_with_print(x):
    return checkpoint(block, x, use_reentrant=False) + 1


attempt(checkpoint_with_print, X.clone().requires_grad_())


# program: checkpoint_clean
@torch.compile(backend="eager")
def checkpoint_clean(x):
    return checkpoint(lambda a: a.sin().cos(), x, use_reentrant=False).sum()


checkpoint_clean(X.clone().requires_grad_())


# program: own_gradient
class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.limit, None


@torch.compile(backend="eager")
def own_gradient(x):
    return Clipped.apply(x, 0.5).sum()


own_gradient(X.clone().requires_grad_()).backward()


# program: own_gradient_with_a_branch
class Signed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if x.sum() > 0:
#          ^^^^^^^^^^^ GB0170 x2
            return x * 2
        return -x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


@torch.compile(backend="eager")
def own_gradient_with_a_branch(x):
    return Signed.apply(x) + 1


attempt(own_gradient_with_a_branch, X.clone().requires_grad_())


# program: operator_of_the_program
@torch.library.custom_op("corpus::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile(backend="eager")
def operator_of_the_program(x):
    return doubled(x) + 1


operator_of_the_program(X)


# program: operator_without_fake
@torch.library.custom_op("corpus::tripled", mutates_args=())
def tripled(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@torch.compile(backend="eager")
def operator_without_fake(x):
    y = x + 1
    return tripled(y) + 1
#          ^^^^^^^^^^^^^^ fake-tensor-error/GB4315


attempt(operator_without_fake, X)


# program: disabled_with_reason
@torch.compiler.disable
def at_the_side(x):
    return x.sum()


@torch.compile(backend="eager")
def disabled_with_reason(x):
    return x * at_the_side(x)
#              ^^^^^^^^^^^^^^ GB0098


disabled_with_reason(X)


# program: functional_module
layer = torch.nn.Linear(4, 4)


@torch.compile(backend="eager")
def functional_module(parameters, x):
    return torch.func.functional_call(layer, parameters, (x,))


functional_module(dict(layer.named_parameters()), X)
