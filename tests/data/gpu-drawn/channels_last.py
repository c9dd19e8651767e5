import torch
from torch import nn

torch.backends.cudnn.benchmark = True

class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(c)

    def forward(self, x):
        y = self.norm(self.conv(x)).relu()
        if not y.is_contiguous(memory_format=torch.channels_last):
            y = y.contiguous()
        return y + x

net = nn.Sequential(nn.Conv2d(3, 8, 1), Block(8), Block(8)).cuda().to(memory_format=torch.channels_last)
step = torch.compile(net)
x = torch.randn(2, 3, 16, 16, device="cuda")
step(x.to(memory_format=torch.channels_last)).mean().backward()
step(x).mean().backward()
with torch.backends.cudnn.flags(deterministic=True, benchmark=False), torch.no_grad():
    net.eval()
    step(x.to(memory_format=torch.channels_last))
