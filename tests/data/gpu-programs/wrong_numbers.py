# compared
import torch

torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY = "accuracy"


@torch.compile
def right(x):
    return x.sin() * 2


@torch.compile
def wrong(x):
    return torch.relu(x.sin()).sum(-1)


x = torch.linspace(-3, 3, 4096, device="cuda").reshape(64, 64)
right(x)
wrong(x)
