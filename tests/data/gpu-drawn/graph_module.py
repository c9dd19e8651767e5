import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False) if i % 2 else block(x)
            if i == 1:
                torch.cuda.nvtx.range_push("middle")
        torch.cuda.nvtx.range_pop()
        return x


net = Net().to("cuda")
opt = torch.compile(net, mode="reduce-overhead")
for _ in range(2):
    opt(torch.randn(4, 8, device="cuda", requires_grad=True)).sum().backward()
torch._dynamo.mark_dynamic(x := torch.randn(6, 8, device="cuda"), 0)
opt(x)
