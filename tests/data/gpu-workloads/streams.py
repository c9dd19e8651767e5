import torch

s = torch.cuda.Stream()
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
g = torch.Generator(device="cuda").manual_seed(3)

@torch.compile
def work(x, scale):
    y = x @ x.T
    torch.cuda.synchronize()
    return y * scale

start.record()
with torch.cuda.stream(s):
    a = torch.randn(64, 64, device="cuda", generator=g)
    for scale in (1.0, 2.0, 3):
        a = work(a, scale)
torch.cuda.current_stream().wait_stream(s)
end.record(); torch.cuda.synchronize()
print(start.elapsed_time(end) >= 0, torch.cuda.max_memory_allocated() > 0, torch.cuda.get_device_name())
