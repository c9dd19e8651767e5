"""torch.nn modules and optimizers."""

import torch

from _attempt import attempt

X = torch.ones(2, 4)


@attempt(X, torch.nn.LSTM(4, 4))
def gb0014(x, module):
    return module(x)
#          ^^^^^^^^^ GB0014 x2


class GetAttr(torch.nn.Module):
    __getattr__ = print

    def forward(self, x):
        return x + 1


@attempt(X, GetAttr())
def gb0211(x, module):
    return x, module.anything
#             ^^^^^^^^^^^^^^^ GB0211


@attempt(X, torch.nn.Linear(4, 4))
def gb8335(x, module):
    return [p for p in module.named_parameters(prefix=x)]
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0170
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB8335


@attempt(X, torch.nn.Linear(4, 4))
def gb0467(x, module):
    module.register_forward_hook(lambda *a: None)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0467
    return module(x)


@attempt(X, torch.nn.Linear(4, 4))
def gb0083(x, module):
    module.register_full_backward_hook(lambda *a: None)
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0467
    return module(x)
#          ^^^^^^^^^ GB0083


def hooked():
    module = torch.nn.Linear(4, 4)
    module.register_full_backward_hook(lambda *a: None)
    return module


@attempt(X, hooked())
def gb0083_before(x, module):
    return module(x)
#          ^^^^^^^^^ GB0083


WEIGHT = torch.ones(4, requires_grad=True)


@attempt(X, torch.optim.LBFGS([WEIGHT]))
def gb0098(x, optimizer):
    optimizer.step(lambda: (WEIGHT * 2).sum())
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0098
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0099
    return x


@attempt(X, torch.jit.trace(torch.nn.Linear(4, 4), X))
def gb0008(x, module):
    return module(x)
#          ^^^^^^^^^ GB0008
