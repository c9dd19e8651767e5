"""Calls that fail a guard on a tensor, a module or the state of torch: one kind of guard each."""

import torch

X = torch.ones(4, 6)


# program: by_rank
@torch.compile(backend="eager")
def by_rank(x):
#           ^ recompile
    return x.sum(-1)


by_rank(X)
by_rank(X.unsqueeze(0))


# program: by_stride
@torch.compile(backend="eager")
def by_stride(x):
#             ^ recompile
    return x.contiguous() + 1


by_stride(X)
by_stride(torch.ones(6, 4).t())


# program: by_two_sizes
@torch.compile(backend="eager")
def by_two_sizes(left, right):
#                ^^^^ recompile
    return left.sum(0), right.sum(0)


by_two_sizes(torch.ones(3, 2), torch.ones(5, 2))
by_two_sizes(torch.ones(4, 2), torch.ones(7, 2))


# program: by_divisibility
@torch.compile(backend="eager", dynamic=True)
def by_divisibility(x):
#                   ^ recompile
    if x.shape[0] % 8 == 0:
        return x.view(8, -1)
    return x


by_divisibility(torch.ones(16))
by_divisibility(torch.ones(15))


# program: by_relation
@torch.compile(backend="eager", dynamic=True)
def by_relation(query, keys):
#               ^^^^^ recompile
    if query.shape[0] > keys.shape[0]:
        return query.sum() + keys.sum()
    return query.sum() - keys.sum()


by_relation(torch.ones(9), torch.ones(5))
by_relation(torch.ones(5), torch.ones(9))


# program: by_aliasing
@torch.compile(backend="eager")
def by_aliasing(left, right):
#               ^^^^ recompile
    left.add_(1)
    return left + right


by_aliasing(X.clone(), X.clone())
SAME = X.clone()
by_aliasing(SAME, SAME)


# program: by_subclass
class Marked(torch.nn.Parameter):
    pass


@torch.compile(backend="eager")
def by_subclass(x):
#               ^ recompile
    return x * 2


by_subclass(X.clone())
by_subclass(torch.nn.Parameter(X.clone()))


# program: by_none
@torch.compile(backend="eager")
#1-32 not-compiled
def by_none(x, mask):
    return x if mask is None else x * mask


by_none(X, None)
by_none(X, X)


# program: by_grad_mode
@torch.compile(backend="eager")
def by_grad_mode(x):
#   ^^^^^^^^^^^^ recompile
    return x * 2


by_grad_mode(X)
with torch.no_grad():
    by_grad_mode(X)


# program: by_inference_mode
@torch.compile(backend="eager")
def by_inference_mode(x):
#   ^^^^^^^^^^^^^^^^^ recompile
    return x.sin()


by_inference_mode(X)
with torch.inference_mode():
    by_inference_mode(torch.ones(4, 6))


# program: by_default_dtype
@torch.compile(backend="eager")
def by_default_dtype(x):
#   ^^^^^^^^^^^^^^^^ recompile
    return x + torch.rand(6)
#   ^^^^^^^^^^^^^^^^^^^^^^^^ float64


by_default_dtype(X)
torch.set_default_dtype(torch.float64)
by_default_dtype(X)
torch.set_default_dtype(torch.float32)


# program: by_autocast
@torch.compile(backend="eager")
def by_autocast(x):
#   ^^^^^^^^^^^ recompile
    return x @ x.t()


by_autocast(X)
with torch.autocast("cpu", dtype=torch.bfloat16):
    by_autocast(X)


# program: by_deterministic
@torch.compile(backend="eager")
def by_deterministic(x):
#   ^^^^^^^^^^^^^^^^ recompile
    return x.cumsum(0)


by_deterministic(X)
torch.use_deterministic_algorithms(True)
by_deterministic(X)
torch.use_deterministic_algorithms(False)


# program: by_module_attribute
class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 6)
        self.temperature = 1.0

    def forward(self, x):
        if self.temperature > 1.0:
#          ^^^^^^^^^^^^^^^^ recompile
            return self.linear(x) / 2
        return self.linear(x)


gate = Gate()
compiled_gate = torch.compile(gate, backend="eager")
compiled_gate(X)
gate.temperature = 2.0
compiled_gate(X)


# program: by_swapped_layer
class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Linear(6, 6)])

    def forward(self, x):
        for layer in self.layers:
#                    ^^^^^^^^^^^ recompile
            x = layer(x)
        return x


stack = Stack()
compiled_stack = torch.compile(stack, backend="eager")
compiled_stack(X)
stack.layers[0] = torch.nn.GELU()
compiled_stack(X)


# program: by_hook
hooked = torch.nn.Linear(6, 6)
compiled_hooked = torch.compile(hooked, backend="eager")
compiled_hooked(X)
hooked.register_forward_hook(lambda module, given, result: result * 2)
compiled_hooked(X)


# program: by_list_of_tensors
@torch.compile(backend="eager")
def by_list_of_tensors(parts):
#                      ^^^^^ recompile
    return torch.cat(parts).sum()


by_list_of_tensors([X, X])
by_list_of_tensors([X, X, X])


# program: by_several
@torch.compile(backend="eager")
def by_several(x, scale, flag):
#              ^ recompile
#                        ^^^^ recompile
    return x * scale if flag else x


by_several(X, 1, True)
by_several(X.double(), "ab".index("b") + 1, True)
by_several(X, 1, False)


# program: to_the_limit
@torch.compile(backend="eager")
def to_the_limit(x, name):
#                   ^^^^ recompile
#                   ^^^^ recompile-limit
    return x + len(name) if name != "stop" else x


with torch._dynamo.config.patch(recompile_limit=2):
    for word in ("a", "b", "c", "d"):
        to_the_limit(X, word)


# program: sizes_of_parameters
layers = torch.nn.Sequential(torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.GroupNorm(2, 8), torch.nn.PReLU(8))
table = torch.ones(8, 8)


@torch.compile(backend="eager", dynamic=True)
def embedded(x):
    y = layers(x) @ table
    if x.shape[0] == 5:
#      ^^^^^^^^^^^^^^^ specialized-size
        y = y + 1
    return y


embedded(torch.ones(5, 8))
