import torch


@torch.compile
def moved(x):
    if x.get_device() == 0:
        x = x.to(0) + torch.arange(x.shape[0], device=x.device)
    return x.cpu().numpy().mean() + x.to("cuda:0").sum()


with torch.device("cuda"):
    scale = torch.ones(())
for size in (4, 5):
    moved(torch.ones(size, device=torch.device(0)) * scale)
torch.set_default_device("cuda")
print(torch.get_default_device(), moved(torch.zeros(4)).device)
