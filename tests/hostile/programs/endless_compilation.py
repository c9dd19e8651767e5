# Compiles again and again in a loop.
# timeout: 4
# overlay: timeout run-error

import planted
import torch
while True:
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
