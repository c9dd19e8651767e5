import torch
from torch import nn

net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2)).cuda()
opt = torch.optim.AdamW(net.parameters(), fused=True)
scaler = torch.amp.GradScaler("cuda")


@torch.compile
def loss_of(x, y):
    with torch.autocast("cuda", dtype=torch.float16):
        out = net(x)
    if torch.isnan(out).any():
        out = torch.nan_to_num(out)
    return nn.functional.cross_entropy(out.float(), y)


for step in range(3):
    x = torch.randn(8 + 4 * (step == 2), 16, device="cuda")
    y = torch.randint(0, 2, (x.shape[0],), device="cuda")
    loss = loss_of(x, y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
