import torch
import torch.nn as nn


class Expert(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.w1 = nn.Linear(d, h, bias=False)
        self.w2 = nn.Linear(h, d, bias=False)
        self.w3 = nn.Linear(d, h, bias=False)

    def forward(self, x):
        return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self, d=128, h=256, n=4, k=2):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.experts = nn.ModuleList(Expert(d, h) for _ in range(n))
        self.k = k

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        weight, index = scores.topk(self.k, dim=-1)
        weight = weight / weight.sum(-1, keepdim=True)
        load = (index == 0).sum().item()
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            chosen = (index == i).float()
            out = out + expert(x) * (chosen * weight).sum(-1, keepdim=True)
        return out * (1.0 + 0.0 * load)


torch.manual_seed(1)
moe = MoE().to("cuda")
run = torch.compile(moe)
x = torch.randn(64, 128, device="cuda", requires_grad=True)
y = run(x)
y.square().mean().backward()
print(y.shape)
