"""Puts the device that is not there into torch, in this process and for good."""

from __future__ import annotations

import torch

from .. import dynamo_skips
from ..notes import Told
from . import cuda_module, generators, memory, native, operators, streams, triton_kernels


def install(count: int, told: Told) -> None:
    """Let there seem to be ``count`` GPUs. ``told`` writes down what the program asks of them.

    Raises native.Unsupported when this torch, or this machine, does not allow it; nothing is changed then.
    """
    state = native.State(count=count)
    made, devices = _generators(state)
    torch.zeros((), requires_grad=True).backward()  # the engine counts devices once: let that be over
    native.install(state)
    operators.install(state, devices, told)
    memory.keep_storages()
    cuda_module.install(state, made, told)
    streams.install(told)
    triton_kernels.install(told)
    native.start_gradient_threads()
    dynamo_skips.hide(cuda_module, generators, memory, native, operators, streams, triton_kernels)


def _generators(state: native.State) -> tuple[tuple[torch.Generator, ...], generators.Devices | None]:
    made = tuple(torch._C.Generator() for _ in range(state.count))
    try:
        devices = generators.Devices()
    except ValueError:
        return made, None
    for index, generator in enumerate(made):
        devices.become_cuda(generator, index)
    state.default_generator = lambda index: generators.address(made[max(index, 0)])
    state.new_generator = devices.moved
    return made, devices
