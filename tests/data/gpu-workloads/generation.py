import torch
from torch import nn

class GPT(nn.Module):
    def __init__(self, v=128, d=32, h=2, l=2):
        super().__init__()
        self.tok = nn.Embedding(v, d); self.pos = nn.Embedding(64, d)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(d, h, 4 * d, batch_first=True, norm_first=True, dropout=0.0) for _ in range(l))
        self.head = nn.Linear(d, v, bias=False)
    def forward(self, idx):
        t = idx.shape[1]
        x = self.tok(idx) + self.pos(torch.arange(t, device=idx.device))
        m = torch.nn.Transformer.generate_square_subsequent_mask(t, device=idx.device)
        for b in self.blocks: x = b(x, src_mask=m, is_causal=True)
        return self.head(x)

dev = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.compile(GPT().to(dev))
idx = torch.zeros(1, 1, dtype=torch.long, device=dev)
with torch.no_grad(), torch.autocast(dev, dtype=torch.bfloat16):
    for _ in range(4):
        logits = model(idx)[:, -1]
        idx = torch.cat([idx, logits.argmax(-1, keepdim=True)], 1)
print(idx.tolist())
