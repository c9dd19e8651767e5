import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
major, minor = torch.cuda.get_device_capability()


@torch.compile
def f(x):
    if torch.cuda.get_device_capability()[0] >= 8:
        x = x * 2
    free, total = torch.cuda.mem_get_info()
    return x.sum() + (1 if free < total else 0)


f(torch.ones(8, device=device, dtype=dtype))
torch.cuda.synchronize()
f(torch.ones(9, device=device, dtype=dtype))
