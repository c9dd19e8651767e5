import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.cuda.manual_seed_all(7)
block = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.1), nn.ReLU()).cuda()


@torch.compile
def run(x):
    state = torch.cuda.get_rng_state()
    y = checkpoint(block, x, use_reentrant=False)
    torch.cuda.set_rng_state(state)
    return y + torch.rand_like(y)


run(torch.randn(4, 16, device="cuda", requires_grad=True)).sum().backward()
