"""NumPy, traced as torch._numpy."""

import numpy as np
import torch

from _attempt import attempt

X = torch.ones(4)
A = np.ones(4)


@attempt(A)
def gb0157_strides(a):
    return a.strides, a.base
#                     ^^^^^^ GB0157


@attempt(A)
def gb0158(a):
    return a.tobytes()
#          ^^^^^^^^^^^ GB0158


@attempt(A)
def gb0159_version(a):
    return a.__version__
#          ^^^^^^^^^^^^^ GB0159


@attempt(A)
def gb0250(a):
    return a.astype(object)
#          ^^^^^^^^^^^^^^^^ GB0250


@attempt(A)
def gb0294(a):
    return np.busday_count(a, a)
#          ^^^^^^^^^^^^^^^^^^^^^ GB0294


@attempt(A)
def gb0294_apply(a):
    return np.apply_along_axis(lambda v: v, 0, a)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ GB0294


@attempt(X, config={"trace_numpy": False})
def gb0293(x):
    return np.sin(x)
#          ^^^^^^^^^ GB0293


@attempt(X, config={"trace_numpy": False})
def gb0231(x):
    return torch.from_numpy(A) + x
#          ^^^^^^^^^^^^^^^^^^^ GB0231


@attempt(X, config={"use_numpy_random_stream": True})
def gb0298(x):
    return x + np.random.rand()
#              ^^^^^^^^^^^^^^^^ GB0298


@attempt(np.array(["a", "b"]))
def gb0185(a):
    return a
#          ^ GB0185


@attempt(np.array([object()]))
def gb0185_object(a):
    return a
#          ^ GB0185


@attempt(A)
def gb0290(a):
    return np.sin.reduce(a)
#          ^^^^^^^^^^^^^^^^ GB0290


@attempt(A)
def gb0170_numpy(a):
    return a + 1 if a.sum() > 0 else a
#                   ^^^^^^^^^^^ GB0170


@attempt(A)
def gb4315_numpy(a):
    return a + np.ones(3)
#          ^^^^^^^^^^^^^^ fake-tensor-error/GB4315
