"""Decides for one run whether something stands in for the GPU, and tells about it in the trace."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ...runtime.protocol import Depth, RunCommand
from .. import distributed
from ..notes import Told
from . import native
from .usage import asks_for_gpu

MOST_GPUS = 16


def prepare(command: RunCommand, own_folder: str, library_roots: list[str]) -> Depth:
    """Put a device in the place of a GPU if the program of ``command`` needs one and there is none; how far to compile then.

    A program whose text asks for one has it from the start: ``torch.cuda.is_available()`` is true. For others, the first use
    that would raise, in a library for instance, puts it there. Kernels for a GPU cannot be
    compiled here.
    """
    import torch

    told = Told(own_folder, library_roots)
    with _reported(told):
        distributed.install(told)
    if torch.version.hip or _has_gpu():
        return command.depth

    def put_there() -> None:
        from .install import install

        install(_count(), told)

    text = command.text
    if text is None:
        try:
            with open(command.file, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            return command.depth  # said where it is run
    if not asks_for_gpu(text):
        _put_there_when_used(put_there)
        return command.depth
    with _reported(told):
        put_there()
    if command.depth is not Depth.INDUCTOR:
        return command.depth
    told.happened("no-kernels")
    return Depth.AOT


@contextlib.contextmanager
def _reported(told: Told) -> Iterator[None]:
    """Tell what cannot be made up with this torch; the program then runs as it does on this machine."""
    try:
        yield
    except native.Unsupported as problem:
        told.happened("unsupported", str(problem))
    except Exception as problem:
        told.happened(
            "unsupported", f"this torch is unlike those it is known for ({type(problem).__name__}: {problem})"
        )


def _has_gpu() -> bool:
    import torch

    try:
        return bool(torch.cuda.is_available())
    except Exception:
        return False


def _count() -> int:
    """As many GPUs as processes that one machine would have, by torchrun's variables."""
    for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE"):
        if os.environ.get(name, "").isdecimal():
            return min(max(int(os.environ[name]), 1), MOST_GPUS)
    return 1


def _is_compiler_asking(torch_folder: str) -> bool:
    """Whether the compiler only looks what there is: to Inductor an error is an answer."""
    compilers = tuple(os.path.join(torch_folder, name) for name in ("_inductor", "_dynamo", "_functorch"))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(compilers):
            return True
        frame = frame.f_back
    return False


def _put_there_when_used(put_there: Callable[[], None]) -> None:
    """torch calls ``torch.cuda._lazy_init`` before anything that needs a device, from C++, too (torch/csrc/utils/device_lazy_init.cpp)."""
    import torch

    cuda: Any = torch.cuda
    initialize = cuda._lazy_init

    def first_use() -> None:
        if _is_compiler_asking(str(torch.__path__[0])):
            initialize()
            return
        cuda._lazy_init = initialize
        try:
            put_there()
        except Exception:
            initialize()  # raises what it would have raised

    cuda._lazy_init = first_use
