import torch
from torch import nn

norm = nn.LayerNorm(8).cuda()


@torch.compile
def embed(x):
    return norm(x).relu() * 2


for sizes in ((3, 5), (2, 4, 6)):
    x = torch.nested.nested_tensor([torch.randn(size, 8) for size in sizes], layout=torch.jagged, device="cuda")
    embed(x)
