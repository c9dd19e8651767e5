import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass


@dataclass
class Config:
    vocab: int = 2048
    width: int = 256
    heads: int = 4
    layers: int = 2
    length: int = 128


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.ln1, self.ln2 = nn.LayerNorm(c.width), nn.LayerNorm(c.width)
        self.attn, self.proj = nn.Linear(c.width, 3 * c.width, bias=False), nn.Linear(c.width, c.width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(c.width, 4 * c.width), nn.GELU(approximate="tanh"), nn.Linear(4 * c.width, c.width))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.attn(self.ln1(x)).view(b, t, 3, self.c.heads, d // self.c.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.ln2(x))


class LM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(c.vocab, c.width), nn.Embedding(c.length, c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.LayerNorm(c.width)
        self.head = nn.Linear(c.width, c.vocab, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids, targets):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


c = Config()
torch.set_float32_matmul_precision("high")
model = torch.compile(LM(c).cuda())
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
for _ in range(2):
    ids = torch.randint(0, c.vocab, (4, c.length), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(ids, ids.roll(-1, 1))
    loss.backward()
    opt.step()
    opt.zero_grad()
print(loss.item())
