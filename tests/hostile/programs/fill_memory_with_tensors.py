# Makes tensors until there is no more memory.
# memory: 1
# overlay: raised run-error

import planted
import torch
taken = [torch.ones(25_000_000) for _ in range(40)]
