import torch
import torch.nn.functional as F


@torch.compile(options={"cpp_wrapper": True})
def weigh(x, w, b):
    y = F.gelu(torch.addmm(b, x, w))
    z = F.layer_norm(y, (16,))
    return torch.softmax(z @ w, -1).sum()


x, w, b = torch.randn(16, 16, requires_grad=True), torch.randn(16, 16, requires_grad=True), torch.randn(16)
weigh(x, w, b).backward()
