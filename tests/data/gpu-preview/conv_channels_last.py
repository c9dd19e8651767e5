import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout)) if stride != 1 or cin != cout else nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.short(x))


net = nn.Sequential(nn.Conv2d(3, 32, 3, 1, 1), nn.ReLU(), Residual(32, 64, 2), Residual(64, 64, 1), Residual(64, 128, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))
net = net.cuda().to(memory_format=torch.channels_last)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scaler = torch.amp.GradScaler("cuda")
step_fn = torch.compile(net)
for i in range(2):
    images = torch.randn(16, 3, 32, 32, device="cuda").contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (16,), device="cuda")
    opt.zero_grad()
    with torch.autocast("cuda", torch.float16):
        out = step_fn(images)
        loss = F.cross_entropy(out, labels, label_smoothing=0.1)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
print(loss.item())
