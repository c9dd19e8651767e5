"""Notes what Triton made of each kernel of a run on a GPU, for each of its configurations: TTIR, TTGIR, LLIR, PTX, SASS, and what it takes.

torch has the kernels of a graph when its ``AsyncCompile.wait`` returns (torch/_inductor/async_compile.py, torch 2.6 to 2.15). A kernel that
torch launches without Triton (``StaticallyLaunchedCudaKernel``, torch 2.8 and later) names its files in Triton's cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..runtime.degraded import degraded_if_it_fails
from ..torch_internals.inductor import TRITON_CACHE_FOLDER, TRITON_CACHE_KEY, WAIT_FOR_KERNELS
from .import_hook import change_at_import
from .sass import sass_of
from .trace_sink import write_note

NOTE = "compile_lens_gpu_kernel"
STAGES = ("ttir", "ttgir", "llir", "ptx")
# of one text, and of all of a run, in characters
MAX_TEXT = 1 << 21
MAX_TEXTS = 1 << 26


def install() -> None:
    """Write a note for each kernel of the graphs that are compiled from now on."""
    change_at_import({"torch._inductor.async_compile": _TritonKernels().wrap})


class _TritonKernels:
    def __init__(self) -> None:
        self._left = MAX_TEXTS

    def wrap(self, _module: ModuleType) -> None:
        WAIT_FOR_KERNELS.wrap(functools.partial(_after, self._note))

    def _note(self, scope: dict[str, Any]) -> None:
        for name, kernel in list(scope.items()):
            results = getattr(kernel, "compile_results", None)
            if results and getattr(kernel, "triton_meta", None) is not None:
                device = kernel.triton_meta.get("device", 0)
                found = [self._configuration(one, getattr(device, "index", device) or 0) for one in results]
                write_note(NOTE, {"kernel": name, "configurations": found})

    def _configuration(self, result: Any, device: int) -> dict[str, Any]:
        config, kernel = result.config, result.kernel
        options = {key: value for key, value in config.kwargs.items() if isinstance(value, (int, str))}
        shared = getattr(kernel, "shared", None) or getattr(getattr(kernel, "metadata", None), "shared", None)
        return {
            "options": options,
            "num_warps": config.num_warps,
            "num_stages": config.num_stages,
            **({"shared": int(shared)} if shared is not None else {}),
            "assembly": dict(self._texts(kernel, device)),
        }

    def _texts(self, kernel: Any, device: int) -> Iterator[tuple[str, str]]:
        held = getattr(kernel, "asm", None)
        for stage in STAGES:
            text = held.get(stage) if held is not None else _cached(kernel, device, stage)
            if isinstance(text, str) and len(text) <= min(MAX_TEXT, self._left):
                self._left -= len(text)
                yield stage, text
        binary = held.get("cubin") if held is not None else _cached_binary(kernel, device)
        sass = sass_of(binary) if isinstance(binary, bytes) and self._left > 0 else None
        if sass is not None and len(sass) <= min(MAX_TEXT, self._left):
            self._left -= len(sass)
            yield "sass", sass


def _cached(kernel: Any, device: int, stage: str) -> str | None:
    content = _cached_binary(kernel, device, stage)
    return content.decode("utf-8", "replace") if content is not None else None


def _cached_binary(kernel: Any, device: int, stage: str = "cubin") -> bytes | None:
    folder, key = TRITON_CACHE_FOLDER.get(), TRITON_CACHE_KEY.get()
    if folder is None or key is None:
        return None
    try:
        file = Path(str(folder(device)), str(key(kernel.hash)), f"{kernel.name}.{stage}")
        return file.read_bytes()
    except OSError:  # torch brought the kernel back from a cache of its own, which has the binary alone
        return None


def _after(note: Callable[[dict[str, Any]], None], wait: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(wait)
    def wait_and_note(compiler: Any, scope: dict[str, Any]) -> Any:
        found = wait(compiler, scope)
        # kernels of any backend, and what Triton of any version keeps of them
        with degraded_if_it_fails("what Triton makes of kernels"):
            note(scope)
        return found

    return wait_and_note
