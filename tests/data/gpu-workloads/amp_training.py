import torch, torch.nn as nn, torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.up = nn.Linear(d, 4 * d)
        self.down = nn.Linear(4 * d, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        h = self.down(F.gelu(self.up(self.norm(x))))
        if h.abs().max() > 100:
            h = h.clamp(-100, 100)
        return x + h

device = torch.device("cuda")
net = Net().to(device)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
scaler = torch.amp.GradScaler("cuda")
step = torch.compile(net)
for n in (8, 8, 12):
    x = torch.randn(n, 16, 64, device=device)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = step(x).square().mean()
    scaler.scale(loss).backward()
    scaler.step(opt); scaler.update(); opt.zero_grad(set_to_none=True)
print(loss.item())
