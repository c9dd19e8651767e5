"""Tensors: values that are read, shapes that depend on them, and calls that no graph holds."""

import io

import torch

X = torch.ones(4)


# program: to_list
@torch.compile(backend="eager")
def to_list(x):
    first, *rest = x.long().tolist()
#                  ^^^^^^^^^^^^^^^^^ GB0033
    return x * first


to_list(X)


# program: compared_in_and
@torch.compile(backend="eager")
def compared_in_and(x, low, high):
    if x.min() >= low and x.max() <= high:
#      ^^^^^^^^^^^^^^ GB0170
#                         ^^^^^^^^^^^^^^^ GB0170
        return x
    return x.clamp(low, high)


compared_in_and(X, 0.0, 2.0)


# program: conditional_expression
@torch.compile(backend="eager")
def conditional_expression(x):
    sign = 1 if x.mean() > 0 else -1
#               ^^^^^^^^^^^^ GB0170
    return x * sign


conditional_expression(X)


# program: while_on_value
@torch.compile(backend="eager")
def while_on_value(x):
    y = x * 2
    while y.norm() > 1:
#         ^^^^^^^^^^^^ GB0170 x2
        y = y / 2
    return y


while_on_value(X)


# program: chosen_by_mask
@torch.compile(backend="eager")
def chosen_by_mask(x):
    kept = x[x > 0.5]
#          ^^^^^^^^^^ GB0036
    return kept * 2


chosen_by_mask(X)


# program: found_by_where
@torch.compile(backend="eager")
def found_by_where(x):
    rows, columns = torch.where(x.reshape(2, 2) > 0)
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0036
    return rows + columns


found_by_where(X)


# program: pointer
@torch.compile(backend="eager")
def pointer(x, y):
    if x.data_ptr() == y.data_ptr():
#      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB5976
        return x
    return x + y


pointer(X, X.clone())


# program: seeded
@torch.compile(backend="eager")
def seeded(x):
    torch.manual_seed(3)
#   ^^^^^^^^^^^^^^^^^^^^ GB0007
    return x + torch.rand(4)


seeded(X)


# program: saved
@torch.compile(backend="eager")
def saved(x):
    y = x.relu()
    torch.save(y, io.BytesIO())
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0007
#                 ^^^^^^^^^^^^ GB0156
    return y - 1


saved(X)


# program: backward_inside
@torch.compile(backend="eager")
def backward_inside(x):
    loss = (x**2).sum()
    loss.backward()
#   ^^^^^^^^^^^^^^^ GB0123
    return x.grad * 2


backward_inside(X.clone().requires_grad_())


# program: hooked
@torch.compile(backend="eager")
def hooked(x):
    y = x * 3
    y.register_hook(lambda gradient: gradient * 2)
    return y.sum()


hooked(X.clone().requires_grad_())


# program: made_of_values
@torch.compile(backend="eager")
def made_of_values(x):
    values = torch.tensor([x.sum().item(), 1.0])
#                          ^^^^^^^^^^^^^^ GB0124
    return values.repeat(2) + x


made_of_values(X)


# program: numbers_of_python
@torch.compile(backend="eager")
def numbers_of_python(x, index):
    start = int(index)
#           ^^^^^^^^^^ GB0124
    return x[start:] * float(x[0]) + complex(1).real
#                      ^^^^^^^^^^^ GB0124


numbers_of_python(X, torch.tensor(1))


# program: indexed_list
@torch.compile(backend="eager")
def indexed_list(x, choices, index):
    return x * choices[index]
#              ^^^^^^^^^^^^^^ GB0124


indexed_list(X, [1, 2, 3], torch.tensor(2))


# program: scripted
@torch.jit.script
def scripted_helper(x):
    return x.relu() + 1


@torch.compile(backend="eager")
def scripted(x):
    return scripted_helper(x) * 2


scripted(X)


# program: written_out
@torch.compile(backend="eager")
def written_out(x, to):
    torch.add(x, 1, out=to[::2])
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0242
    return to + 1


written_out(X, torch.zeros(8))


# program: formatted_value
@torch.compile(backend="eager")
def formatted_value(x):
    label = f"{x.sum():.2f}"
    return x * len(label)
#              ^^^^^^^^^^ GB0088


formatted_value(X)


# program: on_several_lines
@torch.compile(backend="eager")
def on_several_lines(x):
    return (
        x.cumsum(0)
        .max()
        .item()
#        ^^^^^^ GB0124
    )


on_several_lines(X)
