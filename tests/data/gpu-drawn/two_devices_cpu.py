import torch


@torch.compile
def mix(x, scale):
    y = x.cuda() * scale
    return y.cpu().sum() + x.mean()


mix(torch.randn(6), torch.tensor(2.0))
mix(torch.randn(6, device="cuda"), torch.tensor(2.0, device="cuda"))
try:
    torch.compile(lambda a, b: a + b)(torch.ones(3), torch.ones(3, device="cuda"))
except Exception as error:
    print(type(error).__name__)
