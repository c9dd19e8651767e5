"""Modules and functions of torch, which Dynamo compiles through one function of its own, and modules that change."""

import torch
from torch import nn

X = torch.ones(2, 2)


# program: several_modules_of_torch
activation = torch.compile(nn.ReLU(), backend="eager")
layer = nn.Linear(2, 2)
compiled = torch.compile(layer, backend="eager")
activation(X)
compiled(X)
#1-12 recompile
layer.bias.requires_grad_(False)
compiled(X)
#1-12 recompile


# program: function_of_torch
gelu = torch.compile(nn.functional.gelu, backend="eager")
gelu(X)
#1-8 recompile
gelu(X[0])
#1-11 recompile
gelu(X[0], approximate="tanh")
#1-31 recompile


# program: attribute_that_is_a_module
class Block(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act

    def forward(self, x):
        return x + 1 if self.act is None else self.act(x)
#                       ^^^^^^^^ recompile


for block in (Block(None), Block(nn.Tanh())):
    block.compile(backend="eager")
    block(X)


# program: layers_added
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2)])

    def forward(self, x):
        for layer in self.layers:
#                    ^^^^^^^^^^^ recompile
            x = layer(x)
        return x


stack = Stack()
run = torch.compile(stack, backend="eager")
run(X)
stack.layers.append(nn.Linear(2, 2))
run(X)


# program: device_changed
@torch.compile(backend="eager")
def shifted(x):
#           ^ recompile
    return x + 1


shifted(X)
shifted(X.to("meta"))


# program: learning_rate
optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1, momentum=0.9, foreach=True)
parameters = optimizer.param_groups[0]["params"]


@torch.compile
def update():
    optimizer.step()
#   ^^^^^^^^^^^^^^^^ GB0025 x2
#   ^^^^^^^^^^^^^^^^ recompile
#   ^^^^^^^^^^^^^^^^ recompile x2


for rate in (0.1, 0.2, 0.3, 0.4):
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.param_groups[0]["lr"] = rate
    update()
