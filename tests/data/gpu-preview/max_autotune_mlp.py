import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1024, 4096)
        self.fc2 = nn.Linear(4096, 1024)

    def forward(self, x):
        return torch.tanh(self.fc2(torch.relu(self.fc1(x)))) * x


mlp = MLP().half().cuda()
fast = torch.compile(mlp, mode="max-autotune-no-cudagraphs")
with torch.inference_mode():
    print(fast(torch.randn(256, 1024, device="cuda", dtype=torch.half)).float().norm().item())
