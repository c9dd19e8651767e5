import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

B, H, S, D = 2, 4, 512, 64
flex = torch.compile(flex_attention)


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def sliding(b, h, q_idx, kv_idx):
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= 128)


slopes = torch.exp2(-torch.arange(1, H + 1, device="cuda", dtype=torch.float32))


def alibi(score, b, h, q_idx, kv_idx):
    return score + slopes[h] * (kv_idx - q_idx)


q, k, v = (torch.randn(B, H, S, D, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
mask = create_block_mask(causal, None, None, S, S, device="cuda")
out = flex(q, k, v, block_mask=mask)
out.sum().backward()
window = create_block_mask(sliding, None, None, S, S, device="cuda")
out = flex(q, k, v, score_mod=alibi, block_mask=window)
print(out.float().mean().item())
