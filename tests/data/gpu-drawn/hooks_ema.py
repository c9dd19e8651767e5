import copy

import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 8)).cuda()
seen = []
net[0].register_forward_hook(lambda module, args, out: seen.append(out.detach().mean().item()))
ema = copy.deepcopy(net).requires_grad_(False)


@torch.compile
def update(model, average, decay):
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.lerp_(p, 1 - decay)


step = torch.compile(net)
for i in range(3):
    step(torch.randn(4, 8, device="cuda")).sum().backward()
    update(net, ema, 0.9 + i / 100)
    net.zero_grad()
net.eval()
step(torch.randn(4, 8, device="cuda"))
