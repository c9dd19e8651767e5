"""Compiles one function of a corpus program by itself, calls it, and goes on whatever it raises."""

import torch


def attempt(*arguments, config=None, **options):
    def run(function):
        with torch._dynamo.config.patch(config or {}):
            try:
                torch.compile(function, **options)(*(fresh(argument) for argument in arguments))
            except Exception as error:
                print(f"{function.__name__}: {type(error).__name__}")
        return function

    return run


def fresh(argument):
    """A copy of a plain tensor: what one function does to it is nothing to the next."""
    if type(argument) is torch.Tensor and argument.layout is torch.strided and not argument.is_nested:
        return argument.detach().clone().requires_grad_(argument.requires_grad)
    return argument
