import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(22, 3, 16, 16), torch.randint(0, 4, (22,)))
loader = DataLoader(data, batch_size=8, pin_memory=torch.cuda.is_available())
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.GroupNorm(2, 8), torch.nn.SiLU(), torch.nn.Flatten(), torch.nn.LazyLinear(4)).to(device)
net(torch.zeros(1, 3, 16, 16, device=device))
net = torch.compile(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        opt.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    print(epoch, round(loss.item(), 1) >= 0, torch.cuda.memory_summary()[:10] != "" if device.type == "cuda" else "")
