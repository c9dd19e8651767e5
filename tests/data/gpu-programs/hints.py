import torch

torch._inductor.config.triton.tile_reductions = False


@torch.library.custom_op("program::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compile
def without_lowering(x):
    inverse = torch.linalg.inv(x)
    return twice(inverse.sin()).cos()


@torch.compile
def strided_reduction(x):
    return x.permute(2, 0, 1).sum((0, 2))


@torch.compile
def wide_softmax(x):
    return torch.softmax(x * 2, -1)


@torch.compile
def transposed(x, y):
    return x.t() + y + y.sin().t()


@torch.compile
def complex_numbers(x):
    return (torch.view_as_complex(x) * 2j).abs()


x = torch.eye(64, device="cuda") * 2
without_lowering(x)
strided_reduction(torch.ones(32, 48, 64, device="cuda"))
wide_softmax(torch.ones(4, 262144, device="cuda"))
transposed(torch.ones(128, 128, device="cuda"), torch.ones(128, 128, device="cuda"))
complex_numbers(torch.ones(64, 2, device="cuda"))
