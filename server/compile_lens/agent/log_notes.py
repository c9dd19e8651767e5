"""Notes of what torch tells in its logs alone: why a CUDA graph is not used or recorded again, and hints about speed.

Nothing is printed that would not be printed anyway: a filter of the logger takes each record down, and lets go on what the user's own
settings of logging let through.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .trace_sink import write_note

# (module, artifact) of the loggers (``getArtifactLogger`` in these modules, torch 2.6 to 2.13); a torch without one has a silent logger
LOGS = (
    ("torch._inductor.cudagraph_utils", "cudagraphs"),
    ("torch._inductor.cudagraph_trees", "cudagraphs"),
    ("torch._inductor.scheduler", "cudagraphs"),
    ("torch._inductor.compile_fx", "perf_hints"),
    ("torch._inductor.graph", "perf_hints"),
    ("torch._inductor.lowering", "perf_hints"),
    ("torch._inductor.codegen.simd", "perf_hints"),
    ("torch._inductor.codegen.triton", "perf_hints"),
    ("torch._dynamo.variables.optimizer", "perf_hints"),
)
# what tells of addresses and sizes at every recording, and of what happens as it should
PASSED_OVER = re.compile(
    r"Running warmup function=|Recording function=|\s*Partition \d+: |Created \d+ graph partitions"
)
MOST_TEXT = 4000
MOST_NOTES = 2000


def install(caller_stack: Callable[[Any], list[dict[str, Any]]]) -> None:
    """Listen. ``caller_stack`` gives the user's stack above a live frame, outermost first."""
    written = [0]
    for module, artifact in LOGS:
        log = logging.getLogger(f"{module}.__{artifact}")
        if log.level == logging.NOTSET:
            log.addFilter(functools.partial(_take_down, log, artifact, False, written, caller_stack))
            log.setLevel(logging.DEBUG)
        else:
            # the user asked for this log
            log.addFilter(functools.partial(_take_down, log, artifact, True, written, caller_stack))


def _take_down(
    log: logging.Logger,
    artifact: str,
    wanted: bool,
    written: list[int],
    caller_stack: Callable[[Any], list[dict[str, Any]]],
    record: logging.LogRecord,
) -> bool:
    """Write the note of one record; say whether the record goes on to those who print."""
    with contextlib.suppress(Exception):
        text = record.getMessage()
        if written[0] < MOST_NOTES and not PASSED_OVER.match(text):
            written[0] += 1
            write_note(
                "compile_lens_log",
                {
                    "log": artifact,
                    "text": text[:MOST_TEXT],
                    "origin": _origin_of_the_node(),
                    "stack": caller_stack(_outside_of_logging()),
                },
            )
    inherited = log.parent.getEffectiveLevel() if log.parent is not None else logging.WARNING
    return wanted or _is_enabled(artifact) or record.levelno >= inherited


def _outside_of_logging() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in (logging.__file__, __file__):
        frame = frame.f_back
    return frame


def _is_enabled(artifact: str) -> bool:
    """Whether the program has asked for the log since (``torch._logging.set_logs``)."""
    with contextlib.suppress(Exception):
        import torch._logging._internal as internal

        return bool(internal.log_state.is_artifact_enabled(artifact))
    return False


def _origin_of_the_node() -> str:
    """The lines of the user's program that the graph node being lowered comes from, as torch keeps them; '' outside of lowering."""
    with contextlib.suppress(Exception):
        from torch._inductor.virtualized import V

        return str(V.current_node.meta.get("stack_trace") or "")[-MOST_TEXT:]
    return ""
