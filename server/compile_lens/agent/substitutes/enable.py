"""Decides for one run which substitutes it gets: process groups in one process, an emulated CUDA device, random weights."""

from __future__ import annotations

import os

from ..inputs.importing import missing_imports
from ..inputs.importing.as_written import run_as_written
from ..instrument.import_hook import change_at_import
from ..instrument.in_place import call_first
from ..runtime import gpu_presence
from ..runtime.dynamo_skips import skip_modules
from ..runtime.entry_plans import is_searched
from ..runtime.preview_protocol import GpuPreviewRequest
from ..runtime.protocol import Depth, RunCommand, Substitution
from ..torch_internals.cuda import LAZY_INIT
from . import distributed, launcher, unattended
from .cuda.native import EmulationUnsupported
from .cuda.trial import TrialResult
from .cuda.usage import hides_gpus, is_compiler_asking, names_gpu
from .data import arrays, hub_datasets, image_processors, splits, torchvision_datasets
from .notes import StandInNotes
from .unsupported import unsupported_is_noted
from .weights import checkpoints, downloads, hub_files, lookups, timm_models, tokenizers, transformers_models

MAX_GPUS = 16


def enable(command: RunCommand, own_folder: str, library_roots: tuple[str, ...], cuda: TrialResult) -> Depth:
    """Prepare the substitutes that ``command`` allows, before the program runs; how far it is to be compiled.

    That is less far than asked where a GPU is emulated, because kernels for a GPU cannot be compiled without one. ``cuda`` is what a
    trial of the emulation has shown.
    """
    notes = StandInNotes(own_folder, library_roots)
    depth = command.depth
    if command.preview is not None:
        depth = _preview(command, command.preview, notes, cuda)
    elif command.stand_in is Substitution.AUTO:
        _prepare_distributed(command, notes)
        if command.emulation_failed:
            cuda = TrialResult(command.emulation_failed)
        depth = _enable_cuda(command, notes, cuda)
    if command.missing_weights is Substitution.AUTO:
        kept = (*command.sandbox.allow_write, *command.sandbox.caches) if command.sandbox is not None else (os.sep,)
        _substitute_weights(notes, kept)
    if command.missing_data is Substitution.AUTO:
        _substitute_data(notes)
    if command.missing_modules is Substitution.OFF:
        missing_imports.use_stubs(False)
    run_as_written(command.as_written)
    if not command.as_written:
        unattended.go_on(notes)
    return depth


def _prepare_distributed(command: RunCommand, notes: StandInNotes) -> None:
    """Set the variables of ``torchrun`` if the program needs them, and have process groups replaced when it starts distributed work."""
    program = launcher.program_text(command)
    needed = program.first_needed(os.environ)
    if needed is not None:
        launcher.supply()
        notes.add_at("launcher", needed)
    with unsupported_is_noted(notes):
        distributed.prepare(notes, program.starts_distributed_work, _has_gpu(command))  # before a device is emulated


def _enable_cuda(command: RunCommand, notes: StandInNotes, verdict: TrialResult) -> Depth:
    """Emulate a CUDA device if the program needs one and there is none; how far to compile then.

    A program whose text names CUDA has the device from the start: ``torch.cuda.is_available()`` is true. For any other program, it is
    installed at the first use that would raise, for example in a library. A program that hides all GPUs gets none.
    """
    import torch

    if torch.version.hip or _has_gpu(command) or hides_gpus(command):
        return command.depth
    if not names_gpu(command):
        _install_cuda_at_first_use(notes, verdict)
        return command.depth
    if not _install_cuda(notes, verdict) or command.depth is not Depth.INDUCTOR:
        return command.depth
    notes.add("no-kernels")
    return Depth.AOT


def _preview(command: RunCommand, request: GpuPreviewRequest, notes: StandInNotes, verdict: TrialResult) -> Depth:
    """Emulate the GPU that the program is previewed for; nothing replaces what the preview does with graphs."""
    from ..preview.begin import begin

    _prepare_distributed(command, notes)
    with unsupported_is_noted(notes):
        if verdict.off:
            raise EmulationUnsupported(verdict.off)
        begin(request, notes, notes.own_folder, verdict.without, names_gpu(command))
        distributed.offer_nccl()
    return Depth.INDUCTOR


def _has_gpu(command: RunCommand) -> bool:
    """Whether CUDA can be used. Calls are searched for in copies of the process, which must be able to use it, too: in the sandbox they
    are not, since NVIDIA's driver needs what only the process itself may do there."""
    return gpu_presence.is_usable() if is_searched(command.plan) else gpu_presence.starts()


def _install_cuda(notes: StandInNotes, verdict: TrialResult) -> bool:
    """Emulate the device; False where that is not possible, which is noted."""
    from .cuda.install import install

    with unsupported_is_noted(notes):
        if verdict.off:
            raise EmulationUnsupported(verdict.off)
        notes.add("emulated")
        install(_device_count(), notes, verdict.without)
        distributed.offer_nccl()
        return True
    return False


def _device_count() -> int:
    """One GPU for each process that this machine would run, by torchrun's variables."""
    for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE"):
        if os.environ.get(name, "").isdecimal():
            return min(max(int(os.environ[name]), 1), MAX_GPUS)
    return 1


def _install_cuda_at_first_use(notes: StandInNotes, verdict: TrialResult) -> None:
    """torch calls ``torch.cuda._lazy_init`` before anything that needs a device, C++ included (torch/csrc/utils/device_lazy_init.cpp); a
    build without CUDA does not where a device is made the current one (torch/cuda/__init__.py)."""
    import torch

    initialize = LAZY_INIT.get()
    if initialize is None:
        return

    def is_installed_now() -> bool:
        if is_compiler_asking():
            return False
        for undo in changes:
            undo()
        return _install_cuda(notes, verdict)

    def initialized() -> tuple[None] | None:
        return (None,) if is_installed_now() else None  # torch's own raises what it would have raised

    def made_current(*_: object) -> None:
        is_installed_now()  # what is there by then goes on

    changes = [
        call_first(initialize, initialized),
        call_first(torch.cuda.set_device, made_current),
        call_first(torch.cuda.device.__enter__, made_current),
    ]


def _substitute_weights(notes: StandInNotes, kept: tuple[str, ...]) -> None:
    """Substitute weights, configurations, tokenizers and checkpoints that are not on this machine, each library at its import.

    Those that are here get loaded as usual. ``kept`` are the folders in which what the program writes stays.
    """
    calls = lookups.Lookups(notes)
    downloaded = downloads.Downloads(calls, kept)
    kinds = (
        transformers_models.TransformersModels(calls),
        tokenizers.Tokenizers(calls),
        downloaded,
        checkpoints.Checkpoints(calls, downloaded),
        timm_models.TimmModels(calls),
    )
    for kind in kinds:  # two of them change `torch.hub`
        change_at_import(kind.changes())
    skip_modules(transformers_models, tokenizers, downloads, checkpoints, timm_models, hub_files, lookups)


def _substitute_data(notes: StandInNotes) -> None:
    """Substitute data sets, memory-mapped arrays and image processors that are not on this machine."""
    calls = lookups.Lookups(notes)
    kinds = (
        arrays.Arrays(calls),
        torchvision_datasets.TorchvisionDatasets(calls),
        hub_datasets.HubDatasets(calls),
        splits.Splits(),
        image_processors.ImageProcessors(calls),
    )
    change_at_import({name: change for kind in kinds for name, change in kind.changes().items()})
    skip_modules(arrays, torchvision_datasets, hub_datasets, image_processors, splits)
