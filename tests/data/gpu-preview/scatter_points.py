import torch


@torch.compile
def voxelize(points, features, grid):
    idx = ((points + 1) / 2 * grid).long().clamp_(0, grid - 1)
    flat = (idx[:, 0] * grid + idx[:, 1]) * grid + idx[:, 2]
    total = torch.zeros(grid**3, features.shape[1], device=points.device).index_add_(0, flat, features)
    count = torch.bincount(flat, minlength=grid**3) if False else torch.zeros(grid**3, device=points.device).scatter_add_(0, flat, torch.ones_like(flat, dtype=torch.float))
    mean = total / count.clamp(min=1)[:, None]
    top, where = mean.norm(dim=1).topk(16)
    order = torch.argsort(flat, stable=True)
    return mean.cumsum(0)[where], top, order.float().mean()


p = torch.rand(2000, 3, device="cuda") * 2 - 1
f = torch.randn(2000, 8, device="cuda")
a, b, c = voxelize(p, f, 16)
print(a.shape, b.sum().item(), c.item())
