import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.b1 = nn.BatchNorm2d(c)
        self.drop = nn.Dropout2d(0.1)

    def forward(self, x):
        y = torch.relu(self.b1(self.c1(x)))
        print("mean", y.mean())
        return self.drop(y) + x

m = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), Block(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).cuda()
m = m.to(memory_format=torch.channels_last)
c = torch.compile(m)
for size in (32, 32, 48):
    x = torch.randn(4, 3, size, size, device="cuda").to(memory_format=torch.channels_last)
    loss = nn.functional.cross_entropy(c(x), torch.randint(0, 10, (4,), device="cuda"))
    loss.backward()
m.eval()
with torch.inference_mode():
    c(x)
