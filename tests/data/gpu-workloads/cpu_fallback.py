import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
print("device", device, torch.cuda.device_count())

@torch.compile
def loss_fn(p, t, w=None):
    l = torch.nn.functional.binary_cross_entropy_with_logits(p, t, weight=w, reduction="none")
    return l[l > 0.5].mean() if w is None else l.mean()

p = torch.randn(32, device=device, requires_grad=True)
t = torch.rand(32, device=device).round()
loss_fn(p, t).backward()
loss_fn(p, t, torch.rand(32, device=device)).backward()
