# Compiles once, then trains without end.
# idle: 1
# overlay: idle

import planted
import torch
step = torch.compile(lambda x: x * 2)
x = torch.ones(4)
while True:
    step(x)
