"""Turns this process into one that compiles for a GPU that is not there. It is of no other use afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..runtime.dynamo_skips import skip_modules
from ..runtime.libraries import torch_folder
from ..runtime.preview_protocol import GpuPreviewRequest
from ..substitutes.cuda import install as emulation
from ..substitutes.cuda import memory
from ..substitutes.notes import StandInNotes
from . import attention, backend, triton_target, values
from .kernels import KernelReader
from .notes import PreviewNotes


def begin(
    request: GpuPreviewRequest, notes: StandInNotes, own_folder: str, without: Mapping[str, str], names_gpu: bool
) -> None:
    """Emulate the GPU of ``request``, and compile for it.

    ``without``: abilities that failed in a trial of the emulated device. A program that does not name a GPU is previewed as if its graphs
    were on one. Raises EmulationUnsupported where no GPU can be emulated.
    """
    preview_notes = PreviewNotes((own_folder, torch_folder(), "<"))  # graphs run as `<eval_with_key>`
    figures: dict[str, Any] = dict(request.properties)
    cudnn = triton_target.cudnn_version()
    computed = values.CheapValues(preview_notes)

    def launch(kernel: Any, *arguments: Any, **named: Any) -> None:
        computed.assume((arguments, named))

    memory.return_memory_at_once()
    devices = emulation.install(1, notes, without, emulation.Model(figures, cudnn, computed, launch))
    has_triton = _install_triton(figures)
    attention.install(attention.AttentionChooser((figures["major"], figures["minor"]), cudnn), preview_notes)
    reader = KernelReader(preview_notes, figures, request.assembly and has_triton)
    backend.GpuBackend(preview_notes, reader, devices, retarget=not names_gpu).install()
    skip_modules(attention, backend, values)
    preview_notes.about(
        {
            "gpu": request.title,
            "name": figures["name"],
            "architecture": f"sm_{figures['major']}{figures['minor']}",
            "multiprocessors": figures["multi_processor_count"],
            "torch": str(torch.__version__),
            "triton": triton_target.installed_triton(),
            "wanted_triton": triton_target.wanted_triton(),
            "cudnn": cudnn,
            "retargeted": not names_gpu,
        }
    )


def _install_triton(figures: Mapping[str, Any]) -> bool:
    if not triton_target.installed_triton():
        return False
    triton_target.install(figures)
    return True
