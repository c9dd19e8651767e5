import torch


@torch.compile(mode="reduce-overhead")
def step(x):
    return x.sin() * 2


x = torch.ones(64, 64, device="cuda")
first = step(step(x))
for _ in range(4):
    first = step(step(step(x)))
kept = step(x)
step(x)
print(kept.sum().item())
