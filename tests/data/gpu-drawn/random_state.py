import torch

g = torch.Generator(device="cuda").manual_seed(1)


@torch.compile
def noisy(x):
    state = torch.cuda.get_rng_state()
    y = x + torch.randn_like(x)
    torch.cuda.set_rng_state(state)
    return y * torch.rand(x.shape, device=x.device)


noisy(torch.ones(4, device="cuda"))


@torch.compile
def drawn(x, generator):
    return x + torch.randn(x.shape, generator=generator, device=x.device)


drawn(torch.ones(4, device="cuda"), g)
