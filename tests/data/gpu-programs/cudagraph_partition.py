import torch


@torch.compile(mode="reduce-overhead")
def scaled(x, scale):
    return (x.sin() * scale).sum(-1)


@torch.compile(mode="reduce-overhead")
def through_the_cpu(x):
    moved = x.cos().to("cpu")
    moved = moved.exp() + 1
    return x + moved.to("cuda")


for _ in range(4):
    scaled(torch.ones(64, 64, device="cuda"), torch.tensor(2.0))
    through_the_cpu(torch.ones(64, 64, device="cuda"))
