import torch
from torch import nn

generator, critic = nn.Linear(8, 16).cuda(), nn.Sequential(nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 1)).cuda()
optimizers = [torch.optim.Adam(net.parameters(), lr=1e-3) for net in (generator, critic)]
scaler = torch.amp.GradScaler("cuda", init_scale=2.0**4)


@torch.compile
def losses(noise, real):
    fake = generator(noise)
    gap = critic(fake).mean() - critic(real).mean()
    print("gap", gap.item())
    return gap, -critic(fake).mean()


for step in range(3):
    with torch.amp.autocast("cuda", dtype=torch.bfloat16, enabled=step > 0):
        of_critic, of_generator = losses(torch.randn(4, 8, device="cuda"), torch.randn(4, 16, device="cuda"))
    scaler.scale(of_critic + of_generator).backward()
    for optimizer, net in zip(optimizers, (generator, critic), strict=True):
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        optimizer.zero_grad(set_to_none=True)
    scaler.update()
