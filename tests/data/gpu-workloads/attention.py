import torch, torch.nn.functional as F
from torch.nn.attention import sdpa_kernel, SDPBackend

@torch.compile
def attend(q, k, v, causal: bool):
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
        o = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return o.transpose(1, 2).reshape(o.shape[0], -1, o.shape[1] * o.shape[3])

q, k, v = (torch.randn(2, 4, 64, 32, device="cuda", dtype=torch.bfloat16) for _ in range(3))
attend(q, k, v, True)
attend(q, k, v, False)
attend(q[:, :, :32], k, v, False)
