import torch

torch._dynamo.config.capture_scalar_outputs = True
torch._dynamo.config.capture_dynamic_output_shape_ops = True


@torch.compile
def clipped(x):
    largest = x.abs().max().item()
    return x / max(largest, 1.0)


@torch.compile
def chosen(x):
    rows = (x.sum(-1) > 0).nonzero()
    return x[rows[:, 0]] * 2


@torch.compile
def counted(x):
    on_the_host = x.sum(-1).cpu()
    return on_the_host * 2


@torch.compile
def fetched(x, table):
    return x + table.to("cuda")


x = torch.linspace(-1, 2, 4096, device="cuda").reshape(64, 64)
clipped(x)
chosen(x)
counted(x)
fetched(x, torch.ones(64, 64))
