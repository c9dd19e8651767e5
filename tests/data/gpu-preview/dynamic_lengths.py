import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=1000, d=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.norm = nn.RMSNorm(d)
        self.mix = nn.Linear(d, d)
        self.out = nn.Linear(d, 5)

    def forward(self, ids, mask):
        x = self.emb(ids)
        x = x + F.silu(self.mix(self.norm(x)))
        x = x.masked_fill(~mask.unsqueeze(-1), 0.0)
        pooled = x.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return self.out(pooled)


device = torch.device("cuda", 0)
enc = torch.compile(Encoder().to(device), dynamic=True)
for n in (17, 40, 64):
    ids = torch.randint(1, 1000, (8, n), device=device)
    mask = torch.arange(n, device=device)[None] < torch.randint(1, n, (8, 1), device=device)
    loss = enc(ids, mask).logsumexp(-1).mean()
    loss.backward()
print(float(loss))
