import torch

PROPERTIES = torch.cuda.get_device_properties(torch.cuda.current_device())
WIDE = PROPERTIES.multi_processor_count >= 1 and PROPERTIES.total_memory > 0
NAME = torch.cuda.get_device_name()
assert torch.cuda.is_available() and torch.cuda.device_count() >= 1

@torch.compile
def tiled(x, w):
    major, _ = torch.cuda.get_device_capability()
    tile = 64 if major >= 8 else 32
    if torch.cuda.is_bf16_supported():
        x = x.bfloat16()
        w = w.bfloat16()
    return torch.cat([x @ part for part in w.split(tile, 1)], 1)

tiled(torch.randn(16, 32, device="cuda"), torch.randn(32, 128, device="cuda"))

@torch.compile
def sized(x):
    count = torch.cuda.get_device_properties(x.device).multi_processor_count
    return x.view(-1, 2).sum(1) * count

sized(torch.randn(8, device="cuda"))
