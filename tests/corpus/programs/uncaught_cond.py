"""Branches of ``torch.cond`` that give different structures."""

import torch


# program: uncaught_cond
@torch.compile(backend="eager")
def chosen(x):
    return torch.cond(
#          ^^^^^^^^^^^ higher-order-op-error/GB0313 to +5:6
        x.sum() > 0,
        lambda a: (a + 1, a - 1),
        lambda a: (a * 2,),
        (x,),
    )


chosen(torch.ones(4))
