import torch
params = [torch.nn.Parameter(torch.randn(32, 32, device="cuda")) for _ in range(3)]
opt = torch.optim.Adam(params, lr=torch.tensor(1e-3, device="cuda"), foreach=True, capturable=True)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)

@torch.compile(fullgraph=False)
def step():
    opt.step()

for i in range(3):
    loss = sum((p ** 2).sum() for p in params)
    loss.backward()
    step()
    opt.zero_grad()
    sched.step()
