import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.GELU()).cuda()
average = copy.deepcopy(model).requires_grad_(False)


@torch.compile
def update(decay):
    torch._foreach_lerp_(list(average.parameters()), [p.detach() for p in model.parameters()], 1 - decay)


compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
for step in range(3):
    compiled(torch.randn(16, 8, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    update(min(0.9, step / 10))
model.eval()
compiled(torch.randn(16, 8, device="cuda"))
