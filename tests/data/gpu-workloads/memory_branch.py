import torch

LIMIT = 1 << 40


@torch.compile
def attend(q, k, v):
    if torch.cuda.memory_allocated() > LIMIT:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1) @ v


q = torch.randn(2, 4, 8, 16, device="cuda")
attend(q, q, q)
print(torch.cuda.max_memory_allocated() >= 0, torch.cuda.mem_get_info()[1] > 0)
