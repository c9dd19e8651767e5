"""What compiled code raises when it is used as it was not compiled for: gradients taken twice, results kept too long."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Misuse:
    """An error of torch's that compiled code alone raises: what a user is told, and what to do."""

    code: str
    said: re.Pattern[str]
    message: str
    hints: tuple[str, ...]


MISUSES = (
    Misuse(
        # torch/_functorch/_aot_autograd/runtime_wrappers.py (torch 2.6 to 2.13)
        "donated-buffer",
        re.compile(r"compiled with non-empty donated buffers"),
        "The graph is kept here (retain_graph or create_graph), but its compiled backward pass reuses the memory of what it saved.",
        (
            "Leave `retain_graph=True` or `create_graph=True` out; add several losses up, and call `backward()` once.",
            "Or set `torch._functorch.config.donated_buffer = False` before the first call: it takes more memory.",
        ),
    ),
    Misuse(
        # the same file: AOTAutograd traces one backward pass, and none of that
        "double-backward",
        re.compile(r"does not currently support double backward"),
        "A gradient of a gradient is taken here, and what torch.compile makes has none.",
        (
            "Compile what does not need it: keep the part whose gradient is differentiated again (a gradient penalty, a Hessian) out of"
            " the compiled function.",
            'Or compile that part with `backend="eager"`: Dynamo alone leaves autograd as it is.',
        ),
    ),
    Misuse(
        # torch/_inductor/cudagraph_trees.py, ``_get_overwritten_error`` and its like (torch 2.6 to 2.13)
        "cudagraph-overwritten",
        re.compile(r"accessing (?:gradient )?tensor output of CUDAGraphs that has been overwritten"),
        "This reads what an earlier call of a CUDA graph gave back, and a later call has written over it.",
        (
            "Clone what is kept across calls, outside of the compiled function.",
            "Or call `torch.compiler.cudagraph_mark_step_begin()` before each step, if nothing of the step before is read again.",
        ),
    ),
)


def misuse_of(message: str) -> Misuse | None:
    """The known misuse that an error of the program tells of."""
    return next((misuse for misuse in MISUSES if misuse.said.search(message)), None)
