"""The compiler of a preview: torch's own, as far as the source of its kernels. The graph then runs as in eager."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import torch

from ..instrument import depth
from ..runtime.degraded import degraded
from ..substitutes.cuda.native import EmulatedDevices
from ..torch_internals.inductor import (
    ADD_CHOICE_FILTER,
    ASYNC_COMPILE,
    ASYNC_COMPILE_TRITON,
    COMPILE_FX,
    CPP_WRAPPER,
    KEEP_PADDING,
    KNOWN_PADDING,
    PADDING_TIMER,
    TRITON_TEMPLATE,
    VECTOR_ISA_TRIAL,
)
from ..torch_internals.options import set_option
from .kernels import KernelReader
from .notes import PreviewNotes
from .retarget import is_all_on_cpu, move_to_gpu

# what a kernel is for the processor, or by another compiler, is no part of the preview
NOT_COMPILED = ("cpp", "cpp_pybinding", "cuda", "cutlass", "halide", "rocm")
OPTIONS: dict[str, Any] = {
    # A graph from a cache would not be lowered, and one from a preview must not be found by a run. `force_disable_caches` would do it
    # all, and be a part of each kernel's source.
    "torch._inductor.config.fx_graph_cache": False,
    "torch._inductor.config.fx_graph_remote_cache": False,
    "torch._functorch.config.enable_autograd_cache": False,
    "torch._dynamo.config.automatic_dynamic_local_pgo": False,
    "torch._inductor.config.compile_threads": 1,
    # lines of the source for each kernel; the name until torch 2.8
    "torch._inductor.config.trace.provenance_tracking_level": 1,
    "torch._inductor.config.trace.provenance_tracking": True,
    # the launcher loads what it launches
    "torch._inductor.config.use_static_cuda_launcher": False,
    "torch._inductor.config.use_static_triton_launcher": False,
}
# compiled code is not called, so nothing would ask for a backward
BACKWARD_OPTION = "torch._functorch.config.force_non_lazy_backward_lowering"


class GpuBackend:
    """Compiles each graph for the GPU. ``retarget``: graphs that are on the CPU, too, as if they were on the GPU."""

    def __init__(self, notes: PreviewNotes, reader: KernelReader, devices: EmulatedDevices, retarget: bool) -> None:
        self._notes = notes
        self._devices = devices
        self._reader = reader
        self._retarget = retarget

    def install(self) -> None:
        """Let ``torch.compile`` compile with it in this process."""
        for name, value in OPTIONS.items():
            set_option(name, value)
        if not set_option(BACKWARD_OPTION, True):
            degraded("kernels of backward graphs in a GPU preview", f"torch {torch.__version__} compiles them later")
        self._stop_at_kernels()
        depth.replace_inductor(lambda *given, **named: self.compile(*given, **named))  # Dynamo puts tags on it

    def compile(self, graph_module: Any, example_inputs: Any, config_patches: Any = None, **_: Any) -> Any:
        """What Dynamo calls in place of the compiled graph: the graph itself. Raises what restarts Dynamo's analysis."""
        runs = torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))
        try:
            autocast: Any = contextlib.nullcontext()
            if self._retarget and is_all_on_cpu(graph_module, example_inputs):
                example_inputs = move_to_gpu(graph_module, example_inputs)
                if torch.is_autocast_enabled("cpu"):
                    autocast = torch.autocast("cuda", torch.get_autocast_dtype("cpu"))
            with autocast, self._devices.with_cudnn():
                COMPILE_FX.need().compile_fx(graph_module, example_inputs, config_patches=config_patches)
        except Exception as error:  # torch's, for a reason of the program's or of the missing GPU; the note says it
            if type(error).__module__.startswith("torch._dynamo"):
                raise
            self._notes.decision("failed", "", (), f"{type(error).__name__}: {error}".strip()[:2000])
        self._reader.read_pending()
        return runs.forward

    def _stop_at_kernels(self) -> None:
        reader, notes = self._reader, self._notes

        def triton(compiler: Any, kernel_name: str, source_code: str, device_str: str = "cuda") -> Any:
            reader.add(kernel_name, source_code)
            return None

        ASYNC_COMPILE_TRITON.set(triton)
        compiler = ASYNC_COMPILE.need()
        for name in NOT_COMPILED:
            if hasattr(compiler, name):
                setattr(compiler, name, lambda *arguments, **named: None)
        # it takes the headers of CUDA
        CPP_WRAPPER.set(lambda *arguments, **named: None)
        VECTOR_ISA_TRIAL.set(lambda isa, code: True)  # a trial compiles C++
        original_timer = PADDING_TIMER.get()
        if original_timer is not None:
            PADDING_TIMER.set(lambda: _timer(notes))
            KNOWN_PADDING.set(lambda key: None)
            KEEP_PADDING.set(lambda key, value: None)
        add_filter = ADD_CHOICE_FILTER.get()
        if add_filter is not None:
            add_filter(lambda choices: _first_template(choices, notes, reader))


def _timer(notes: PreviewNotes) -> Callable[..., float]:
    """Measures nothing: all take as long, so a product is not padded."""

    def measure(*_: Any, **__: Any) -> float:
        notes.decision(
            "padding",
            "not padded",
            ("padded to a multiple of its alignment",),
            "torch measures on the GPU whether a padded matrix product is faster.",
        )
        return 1.0

    return measure


def _first_template(choices: list[Any], notes: PreviewNotes, reader: KernelReader) -> list[Any]:
    """One choice, which needs no measurement: Triton's first template, else the first."""
    if len(choices) < 2:
        return choices
    template: Any = TRITON_TEMPLATE.look_up()
    templates = [choice for choice in choices if template is not None and isinstance(choice, template)]
    taken = (templates or choices)[0]
    reader.chosen_among(len(choices))
    others = tuple(_described(choice) for choice in choices if choice is not taken)
    notes.decision("max-autotune", _described(taken), others, "torch measures on the GPU which candidate is fastest.")
    return [taken]


def _described(choice: Any) -> str:
    return ": ".join(filter(None, (str(getattr(choice, "name", choice)), str(getattr(choice, "description", "")))))
