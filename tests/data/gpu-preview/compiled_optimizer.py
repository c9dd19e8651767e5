import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 256), nn.Mish(), nn.Linear(256, 256), nn.Mish(), nn.Linear(256, 8)).cuda()
opt = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-3, device="cuda"), foreach=True, capturable=True)


@torch.compile(fullgraph=False)
def update():
    opt.step()


for _ in range(2):
    loss = model(torch.randn(32, 64, device="cuda")).pow(2).mean()
    loss.backward()
    update()
    opt.zero_grad()
print(loss.item())
