# Replaces torch.compile.
# overlay: ok

import planted
import torch
torch.compile = lambda model=None, **_: model or (lambda function: function)
assert torch.compile(lambda x: x + 1)(torch.ones(1)).item() == 2
