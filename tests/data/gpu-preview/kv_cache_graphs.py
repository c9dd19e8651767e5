import torch
import torch.nn as nn
import torch.nn.functional as F


class Decoder(nn.Module):
    def __init__(self, d=256, heads=4, length=128, batch=1):
        super().__init__()
        self.heads, self.hd = heads, d // heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.register_buffer("k_cache", torch.zeros(batch, heads, length, self.hd))
        self.register_buffer("v_cache", torch.zeros(batch, heads, length, self.hd))
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, x, pos):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, self.hd).transpose(1, 2) for z in self.qkv(x).split(d, dim=2))
        self.k_cache[:, :, pos] = k
        self.v_cache[:, :, pos] = v
        y = F.scaled_dot_product_attention(q, self.k_cache, self.v_cache, attn_mask=self.mask[None, None, pos])
        return self.proj(y.transpose(1, 2).reshape(b, t, d))


with torch.no_grad():
    model = Decoder().to("cuda", torch.bfloat16).eval()
    step = torch.compile(model, mode="reduce-overhead", fullgraph=True)
    for i in range(4):
        token = torch.randn(1, 1, 256, device="cuda", dtype=torch.bfloat16)
        torch.compiler.cudagraph_mark_step_begin()
        y = step(token, torch.tensor([i], device="cuda"))
    print(y.float().sum().item())
