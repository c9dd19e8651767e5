import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a = nn.Linear(d, d); self.b = nn.Linear(d, d)
    def forward(self, x):
        return x + self.b(torch.nn.functional.silu(self.a(x)))

class Net(nn.Module):
    def __init__(self, d=48, n=3, v=200):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(n))
        self.head = nn.Linear(d, v)
    def forward(self, ids, labels=None):
        x = self.emb(ids)
        for b in self.blocks:
            x = checkpoint(b, x, use_reentrant=False)
        logits = self.head(x)
        if labels is None:
            return logits
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())

model = torch.compile(Net().cuda(), dynamic=True)
for b, t in ((2, 8), (2, 12), (4, 16)):
    ids = torch.randint(0, 200, (b, t), device="cuda")
    model(ids, ids).backward()
model(ids)
