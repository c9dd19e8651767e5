"""Shapes that do not fit, found while tracing, in a list comprehension of a helper."""

import torch


# program: uncaught_shapes
def products(parts, weight):
    return [part @ weight for part in parts]
#           ^^^^^^^^^^^^^ fake-tensor-error/GB4315


@torch.compile(backend="eager")
def joined(x, weight):
#          ^ recompile
    return torch.cat(products(x.split(2, dim=1), weight))


joined(torch.ones(3, 4), torch.ones(2, 5))
joined(torch.ones(3, 5), torch.ones(2, 5))
