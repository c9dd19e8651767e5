import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29561")
dist.init_process_group("nccl", rank=0, world_size=1)
torch.cuda.set_device(0)


class Layer(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x)) + x


model = nn.Sequential(Layer(), Layer()).cuda()
for layer in model:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile
def loss_of(y, target):
    error = (y - target).square()
    if error.mean() > 1e6:
        return error.clamp(max=1e6).mean()
    return error.mean()


for _ in range(2):
    loss = loss_of(model(torch.randn(4, 64, device="cuda")), torch.zeros(4, 64, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
