import torch
static = torch.zeros(16, 16, device="cuda")

@torch.compile
def f(x):
    for row in x.unbind(0):
        if torch.any(row > 3):
            break
    return torch.stack([r.exp() for r in x]).mean()

f(static)
f(static + 4)
