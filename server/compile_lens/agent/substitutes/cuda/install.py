"""Installs the emulated CUDA device in this process; it cannot be removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from ...runtime.degraded import degraded
from ...runtime.dynamo_skips import skip_modules
from ...torch_internals.cuda import C_SHOW_CONFIG
from ..notes import StandInNotes
from . import cuda_module, generators, memory, native, operators, streams, triton_kernels
from .canaries import GENERATORS, STREAMS, TRITON

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Model:
    """Which GPU is emulated, and how. ``figures``: where its properties differ from those of an H100.

    ``cudnn`` is the version of cuDNN that torch sees, 0 for none. ``values`` decides which operators compute something;
    without it, all do. ``launch`` is called in place of the launch of a user's Triton kernel, with its arguments.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    cudnn: int = 0
    values: operators.ValuePolicy | None = None
    launch: triton_kernels.Launch | None = None


AN_H100 = Model()


def install(
    count: int, notes: StandInNotes, without: Mapping[str, str] = NOTHING, model: Model = AN_H100
) -> native.EmulatedDevices:
    """Emulate ``count`` GPUs, which are returned. ``notes`` takes what the program asks of them.

    ``without``: abilities that failed in a trial (agent/substitutes/cuda/trial.py), with the reasons; they are left out, and reported.
    Raises EmulationUnsupported, with nothing changed, where this torch or this machine does not allow it.
    """
    devices = native.EmulatedDevices(count=count, cudnn=model.cudnn)
    for ability, why in without.items():
        degraded(f"{ability} on the emulated CUDA device", why)
    generators_made, generator_devices = _generators(devices, without)
    show_config = C_SHOW_CONFIG.get()
    build = show_config() if show_config is not None else ""
    torch.zeros((), requires_grad=True).backward()  # the engine counts devices at its first run: get that over with
    native.install(devices)
    if show_config is not None:
        C_SHOW_CONFIG.set(lambda: build)  # in C++ it asks CUDA's library, which is not there
    torch.empty(
        0, pin_memory=True
    )  # C++ asks whether memory is pinned only once the device was initialized in this way
    operators.install(devices, generator_devices, notes, model.values)
    memory.patch_storages()
    cuda_module.install(devices, generators_made, notes, model.figures)
    if STREAMS not in without:
        streams.install(notes)
    if model.launch is not None:
        triton_kernels.replace_launch(model.launch)
    else:
        triton_kernels.install(notes, runs=TRITON not in without)
    native.start_gradient_threads(devices)
    skip_modules(cuda_module, generators, memory, native, operators, streams, triton_kernels)
    return devices


def _generators(
    devices: native.EmulatedDevices, without: Mapping[str, str]
) -> tuple[tuple[torch.Generator, ...], generators.GeneratorDevices | None]:
    """A default generator for each device; None in second place where this torch does not let them report ``cuda``."""
    made = tuple(torch.Generator() for _ in range(devices.count))
    if GENERATORS in without:
        return made, None
    try:
        generator_devices = generators.GeneratorDevices()
    except ValueError as error:
        degraded("random generators of the emulated CUDA device", error)
        return made, None
    for index, generator in enumerate(made):
        generator_devices.set_cuda(generator, index)
    devices.default_generator = lambda index: generators.address(made[max(index, 0)])
    devices.new_generator = generator_devices.create_at
    return made, generator_devices
