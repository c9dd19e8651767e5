import torch

torch._inductor.config.graph_partition = False
torch._dynamo.config.capture_dynamic_output_shape_ops = True


@torch.compile(mode="reduce-overhead")
def scaled(x, scale):
    return (x.sin() * scale).sum(-1)


@torch.compile(mode="reduce-overhead")
def positive(x):
    kept = x[x > 0]
    return kept.sin() * 2


for _ in range(3):
    scaled(torch.ones(64, 64, device="cuda"), torch.tensor(2.0))
    positive(torch.linspace(-1, 1, 64, device="cuda"))
