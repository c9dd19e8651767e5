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
# what tells of addresses and sizes at every recording, of what happens as it should, and what nobody can act on
PASSED_OVER = re.compile(
    r"^(?:\[\S+\] )?(?:Running warmup function=|Recording (?:function=|cudagraph tree ))"
    r"|\s*Partition \d+: |Created \d+ graph partitions|possibly bad tiling|Skip comprehensive padding on CPU"
)
OPERATION = re.compile(r"    (?! )")
# why every operation is outside when there are no CUDA graphs at all
NO_CUDA_GRAPHS = "reason=partition includes all ops when cudagraphs is disabled"
MOST_TEXT = 4000
MOST_NOTES = 400


def install(caller_stack: Callable[[Any], list[dict[str, Any]]]) -> None:
    """Listen. ``caller_stack`` gives the user's stack above a live frame, outermost first."""
    notes = _LogNotes(caller_stack)
    for module, artifact in LOGS:
        log = logging.getLogger(f"{module}.__{artifact}")
        asked = log.level != logging.NOTSET
        log.addFilter(functools.partial(notes.take_down, log, artifact, asked))
        if not asked:
            log.setLevel(logging.DEBUG)


class _LogNotes:
    """Writes what is worth a note."""

    def __init__(self, caller_stack: Callable[[Any], list[dict[str, Any]]]) -> None:
        self._caller_stack = caller_stack
        self._written = 0
        self._passes_over_operation = False

    def take_down(self, log: logging.Logger, artifact: str, asked: bool, record: logging.LogRecord) -> bool:
        """Write the note of one record; say whether the record goes on to those who print.

        ``asked``: the user's settings have switched the log on.
        """
        with contextlib.suppress(Exception):
            text = record.getMessage()
            if self._written < MOST_NOTES and self._is_worth_a_note(text):
                self._written += 1
                self._write(artifact, text)
        inherited = log.parent.getEffectiveLevel() if log.parent is not None else logging.WARNING
        return asked or _is_enabled(artifact) or record.levelno >= inherited

    def _is_worth_a_note(self, text: str) -> bool:
        if OPERATION.match(text):
            self._passes_over_operation = NO_CUDA_GRAPHS in text
        elif not text.startswith("     "):
            self._passes_over_operation = False
        # the lines of an operation's stack follow it
        return not self._passes_over_operation and not PASSED_OVER.search(text)

    def _write(self, artifact: str, text: str) -> None:
        write_note(
            "compile_lens_log",
            {
                "log": artifact,
                "text": text[:MOST_TEXT],
                "origin": _origin_of_the_node(),
                "stack": self._caller_stack(_outside_of_logging()),
            },
        )


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
