import torch
from torch.nn.attention.flex_attention import flex_attention, create_block_mask

def causal(b, h, q, k):
    return q >= k

mask = create_block_mask(causal, None, None, 128, 128, device="cuda")
flex = torch.compile(flex_attention)
q = torch.randn(1, 2, 128, 32, device="cuda")
print(flex(q, q, q, block_mask=mask).shape)
