"""Recognizes errors of compiled code that is used in a way it was not compiled for: double backward, overwritten results."""

from __future__ import annotations

import re

from msgspec import Struct

from compile_lens.late_pattern import pattern


class Misuse(Struct, frozen=True):
    """An error that only compiled code raises: its message and hints."""

    code: str
    pattern: re.Pattern[str]
    message: str
    hints: tuple[str, ...]


MISUSES = (
    Misuse(
        # torch/_functorch/_aot_autograd/runtime_wrappers.py (torch 2.6 to 2.13)
        "donated-buffer",
        pattern(r"compiled with non-empty donated buffers"),
        "This line retains the graph (`retain_graph` or `create_graph`), but the compiled backward pass reuses saved buffers.",
        (
            "Remove `retain_graph=True` or `create_graph=True`: add the losses, and call `backward()` once.",
            "Or set `torch._functorch.config.donated_buffer = False` before the first call. This takes more memory.",
        ),
    ),
    Misuse(
        # the same file: AOTAutograd traces one backward pass, and not the backward of that
        "double-backward",
        pattern(r"does not currently support double backward"),
        "This line differentiates a gradient, and compiled code does not support double backward.",
        (
            "Keep the part whose gradient is differentiated again (a gradient penalty, a Hessian) out of the compiled function.",
            'Or compile that part with `backend="eager"`, which leaves autograd as it is.',
        ),
    ),
    Misuse(
        # torch/_inductor/cudagraph_trees.py, ``_get_overwritten_error`` and its like (torch 2.6 to 2.13)
        "cudagraph-overwritten",
        pattern(r"accessing (?:gradient )?tensor output of CUDAGraphs that has been overwritten"),
        "This line reads the output of an earlier CUDA graph run that a later run has overwritten.",
        (
            "Clone outputs that are kept across calls, outside the compiled function.",
            "Or call `torch.compiler.cudagraph_mark_step_begin()` before each step, if outputs of the previous step are not read again.",
        ),
    ),
)


def misuse_of(message: str) -> Misuse | None:
    """The known misuse behind an error of the program."""
    return next((misuse for misuse in MISUSES if misuse.pattern.search(message)), None)
