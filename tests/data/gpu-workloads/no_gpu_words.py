import torch

@torch.compile
def f(x):
    torch._dynamo.graph_break()
    return x.cos() + 1

f(torch.ones(3))
f(torch.ones(4))
