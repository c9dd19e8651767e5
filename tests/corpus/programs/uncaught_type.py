"""An argument of the wrong type for the call of a compiled function."""

import torch


# program: uncaught_type
@torch.compile(backend="eager")
def scaled(x, *, by):
    return x * by


scaled(torch.ones(4), by=2)
scaled(torch.ones(4), 3)
#1-25 run-error
