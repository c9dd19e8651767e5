import torch


@torch.compile
def block(x, weight):
    hidden = x @ weight
    return torch.relu(hidden).sum(-1)


@torch.compile
def in_half_precision(x, weight):
    return (x.bfloat16() @ weight.bfloat16()).sum(-1)


x, weight = torch.randn(512, 512, device="cuda"), torch.randn(512, 512, device="cuda", requires_grad=True)
block(x, weight).sum().backward()
in_half_precision(x, weight)
