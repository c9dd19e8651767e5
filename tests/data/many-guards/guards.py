"""Hundreds of guards: each parameter of each layer, and each value of a dictionary. The trace is of torch 2.13 on a CPU."""
import torch

layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(150))


@torch.compile(backend="eager")
def run(x, options):
    for layer in layers:
        x = layer(x)
    return x * sum(options.values())


run(torch.ones(2, 4), {f"option{n}": n for n in range(400)})
