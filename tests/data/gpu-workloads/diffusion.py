import math, torch
from torch import nn

class TimeEmbed(nn.Module):
    def __init__(self, d):
        super().__init__(); self.d = d; self.mlp = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))
    def forward(self, t):
        half = self.d // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, device=t.device) / half)
        a = t[:, None].float() * freqs[None]
        return self.mlp(torch.cat([a.cos(), a.sin()], -1))

class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.t = TimeEmbed(c); self.d = nn.Conv2d(3, c, 3, 2, 1); self.m = nn.Conv2d(c, c, 3, 1, 1); self.u = nn.ConvTranspose2d(c, 3, 4, 2, 1)
    def forward(self, x, t):
        h = self.d(x) + self.t(t)[:, :, None, None]
        return self.u(torch.relu(self.m(h)))

@torch.no_grad()
def sample(net, steps, size):
    x = torch.randn(2, 3, size, size, device="cuda")
    for i in reversed(range(steps)):
        x = x - 0.1 * net(x, torch.full((2,), i, device="cuda"))
    return x

net = torch.compile(UNet().cuda())
sample(net, 3, 16); sample(net, 2, 32)
