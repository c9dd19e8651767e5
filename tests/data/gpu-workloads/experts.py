import torch
from torch import nn

class MoE(nn.Module):
    def __init__(self, d=32, e=4):
        super().__init__()
        self.gate = nn.Linear(d, e)
        self.experts = nn.ModuleList(nn.Linear(d, d) for _ in range(e))

    def forward(self, x):
        top = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = torch.nonzero(top == i).squeeze(1)
            if rows.numel() == 0:
                continue
            out[rows] = expert(x[rows])
        return out

torch.manual_seed(0)
model = MoE().cuda()
compiled = torch.compile(model)
for _ in range(2):
    compiled(torch.randn(64, 32, device="cuda")).sum().backward()
