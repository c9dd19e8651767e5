"""Methods and attributes of a tensor."""

import copy

import torch

from _attempt import attempt

X = torch.ones(4)


@attempt(X)
def gb0001(x):
    return x.as_subclass(torch.Tensor)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0001


class Wrapped(torch.Tensor):
    pass


@attempt(X)
def gb0026(x):
    return Wrapped(x, 3)
#          ^^^^^^^^^^^^^ GB0026


@attempt(X)
def gb0045(x):
    return x + 1 if x.is_inference() else x
#                   ^^^^^^^^^^^^^^^^ GB0045


@attempt(X)
def gb0046(x):
    return x + 1 if torch.is_inference_mode_enabled() else x
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0046


@attempt(X)
def gb0056(x):
    y = x + 1
    y.data = torch.zeros(4)
#   ^^^^^^ GB0056
    return y


@attempt(X)
def gb0058(x):
    x.requires_grad = True
#   ^^^^^^^^^^^^^^^ GB0206
    x.grad = torch.ones(4)
    x.real = x
#   ^^^^^^ GB0058
    return x


@attempt(X)
def gb0206(x):
    x.requires_grad = True
#   ^^^^^^^^^^^^^^^ GB0206
    return x * 2


@attempt(X)
def gb0220(x):
    x.data = torch.zeros(4, dtype=torch.float64)
#   ^^^^^^ GB0220
    return x + 1


@attempt(X)
def gb0104(x):
    y = x.requires_grad_() * 2
#       ^^^^^^^^^^^^^^^^^^ GB0125
    return y.grad_fn
#          ^^^^^^^^^ GB0104


@attempt(X.clone().requires_grad_())
def gb0104_grad(x):
    y = x * 2
    return y.grad_fn.name()
#          ^^^^^^^^^ GB0104


@attempt(X, config={"trace_numpy": False})
def gb0105(x):
    return x.numpy()
#          ^^^^^^^^^ GB0105


@attempt(X)
def gb0107(x):
    return x.random_(2)
#          ^^^^^^^^^^^^ GB0107


@attempt(X.clone().requires_grad_())
def gb0108(x):
    y = x * 2
    y.retain_grad()
#   ^^^^^^^^^^^^^ GB0108
    return y


@attempt(X)
def gb0109(x):
    return x.tolist()
#          ^^^^^^^^^^ GB0109


@attempt(X)
def gb0110(x):
    return x.uniform_(**{"from": 0.0, "to": 1.0})
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0110


@attempt(X)
def gb0117(x):
    return x.size(1, 2, 3)
#          ^^^^^^^^^^^^^^^ GB0117


@attempt(X)
def gb0117_stride(x):
    return x.stride(0, 1)
#          ^^^^^^^^^^^^^^ GB0117


@attempt(X.clone().requires_grad_(), config={"trace_autograd_ops": False})
def gb0123(x):
    (x * 2).sum().backward()
#   ^^^^^^^^^^^^^^^^^^^^^^^^ GB0123
    return x


@attempt(X)
def gb0124(x):
    return x.sum().item()
#          ^^^^^^^^^^^^^^ GB0124


@attempt(X)
def gb0125(x):
    y = x + 1
    x.requires_grad_()
#   ^^^^^^^^^^^^^^^^^^ GB0125
    return y


@attempt(X)
def gb0126(x):
    return x.clone().resize_(8)
#          ^^^^^^^^^^^^^^^^^^^^ GB0126


@attempt(X)
def gb0127(x):
    return x.clone().resize_as_(torch.ones(8))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0127


@attempt(X)
def gb0128(x):
    return x.clone().set_(torch.ones(8), 0, (2,), (1,))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0128


@attempt(X)
def gb0129(x):
    return x.sparse_resize_((2, 2), 1, 1)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0129


@attempt(X)
def gb0130(x):
    return x.sparse_resize_and_clear_((2, 2), 1, 1)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0130


@attempt(X)
def gb4198(x):
    return copy.deepcopy(x) + 1
#          ^^^^^^^^^^^^^^^^ GB4198


@attempt(X)
def gb0569(x):
    return repr(x)
#          ^^^^^^^ GB0569


@attempt(X, object())
def gb0055(x, thing):
    return x.add(thing)
#          ^^^^^^^^^^^^ GB0055


@attempt(X)
def gb5976(x):
    return x.data_ptr() == (x + 1).data_ptr()
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB5976


@attempt(X)
def gb0208(x):
    return torch.tensor([1]).storage()
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0208


@attempt(X)
def gb0036(x):
    return x.nonzero()
#          ^^^^^^^^^^^ GB0036


@attempt(X)
def gb0033(x):
    return torch.equal(x, x + 1)
#          ^^^^^^^^^^^^^^^^^^^^^ GB0033


@attempt(X)
def gb4315(x):
    return x.view(3)
#          ^^^^^^^^^ fake-tensor-error/GB4315


@attempt(X)
def gb0112(x):
    return torch.add(x)
#          ^^^^^^^^^^^^ GB0112


@attempt(X)
def gb5173(x):
    return x + torch.ones(4, device="meta")
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ fake-tensor-error/GB5173


@attempt(X.to_sparse())
def gb0015(x):
    return x * 2
#          ^^^^^ GB0015


@attempt(X)
def gb0277(x):
    return x.to_sparse()
#          ^^^^^^^^^^^^^ GB0277


@attempt(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]))
def gb0016(x):
    return x * 2
#          ^^^^^ GB0016


@attempt(X)
def gb0090(x):
    return torch.nested.nested_tensor([x, x])
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0090


@attempt(X)
def gb0245(x):
    return torch.nested.nested_tensor(x, layout=torch.jagged)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0245


@attempt(X)
def gb0148(x):
    x.unsqueeze_(0)
#   ^^^^^^^^^^^^^^^ GB0148
    return x + 1


@attempt(X)
def gb8985(x):
    y = (x + 1).requires_grad_()
#       ^^^^^^^^^^^^^^^^^^^^^^^^ GB8985
    return y


@attempt(X)
def gb0225(x):
    return torch.ones(4, requires_grad=True) * x
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0225


@attempt(X)
def gb0246(x):
    return torch.nn.functional.one_hot(x.long())
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0246


@attempt(X)
def gb0247(x):
    return torch.add(x, 1, out=torch.empty(3))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0247


@attempt(X)
def gb0242(x):
    return torch.add(x, 1, out=torch.empty(8)[::2])
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0242


@attempt(X)
def gb0240(x):
    return torch.sort(x, out=(torch.empty(3), torch.empty(3, dtype=torch.long)))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0240


@attempt(X)
def gb0226(x):
    return torch.nn.Parameter([1, 2])
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0226


@attempt(X)
def gb0237(x):
    return torch.nn.Parameter(x, requires_grad=x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0237


@attempt(X)
def gb0264(x):
    return torch.nn.Parameter(x + 1)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^ GB0264


@attempt(X)
def gb0223(x):
    return torch.compile(torch.sin, "eager")(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0223


@attempt(X)
def gb0248(x):
    return torch.get_device_module("cpu", "cpu")
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0248


@attempt(X)
def gb0286(x):
    return torch.get_device_module(3)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0286


@attempt(X)
def gb0285(x):
    return torch.accelerator.current_stream("cpu", "cpu")
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0285


@attempt(X)
def gb0249(x):
    return torch.accelerator.current_stream([])
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0249


@attempt(X)
def gb0243(x):
    return torch.nn.modules.utils._pair(object())
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0243
#                                       ^^^^^^^^ GB0059


@attempt(X)
def gb9158(x):
    torch._check(x.shape[0] > 2, lambda: f"{x}")
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB9158
    return x


@attempt(X)
def gb9840(x):
    torch._check(x.shape[0] > 2, print)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB9840
    return x


@attempt(X)
def gb0360(x):
    return torch.fx.experimental.symbolic_shapes.guard_scalar(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0360
