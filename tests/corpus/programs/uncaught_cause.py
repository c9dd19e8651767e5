"""An error that one of the program's own is raised from, behind a break."""

import torch


# program: uncaught_cause
class Rejected(Exception):
    pass


@torch.compile(backend="eager")
def checked(x, limit):
    y = x * 2
    print("checking")
#   ^^^^^^^^^^^^^^^^^ GB0059
    try:
        if y.shape[0] > limit:
            raise ValueError(f"{y.shape[0]} > {limit}")
    except ValueError as error:
        raise Rejected("the batch is too large") from error
#             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ run-error
    return y


checked(torch.ones(4), 9)
checked(torch.ones(4), 3)
