# compared
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        return x + self.down(torch.nn.functional.dropout(torch.relu(self.up(self.norm(x))), 0.1, self.training))


torch.set_float32_matmul_precision("high")
model = nn.Sequential(*(Block(64) for _ in range(12))).cuda()
compiled = torch.compile(model)
for rows in (32, 32, 48):
    compiled(torch.randn(rows, 64, device="cuda")).square().mean().backward()


@torch.compile
def update(weights, gradient):
    weights -= 0.1 * gradient
    weights.clamp_(-1, 1)
    return weights.norm()


update(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))
shifted = torch.randn(64 * 64 + 1, device="cuda")[1:].view(64, 64)
update(shifted, torch.randn(64, 64, device="cuda"))
