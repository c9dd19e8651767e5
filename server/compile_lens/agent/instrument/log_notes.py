"""Notes of what torch only logs: why a CUDA graph is not used or is recorded again, and performance hints.

Nothing is printed that would not be printed anyway: a filter of the logger reads each record, and passes on only what the user's own
logging settings let through.
"""

from __future__ import annotations

import functools
import logging
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..runtime.degraded import degraded_if_it_fails
from ..torch_internals.core import LOG_STATE
from ..torch_internals.inductor import VIRTUALIZED
from .stacks import frames_outward
from .trace_sink import write_note

# (module, artifact) of the loggers (``getArtifactLogger`` in these modules, torch 2.6 to 2.13); without one, the logger is silent
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
# addresses and sizes of each recording, records of what works as it should, and what nobody can act on
IGNORED = re.compile(
    r"^(?:\[\S+\] )?(?:Running warmup function=|Recording (?:function=|cudagraph tree ))"
    r"|\s*Partition \d+: |Created \d+ graph partitions|possibly bad tiling|Skip comprehensive padding on CPU"
)
OPERATION = re.compile(r"    (?! )")
# the reason given for every operation where CUDA graphs are off
NO_CUDA_GRAPHS = "reason=partition includes all ops when cudagraphs is disabled"
MAX_TEXT = 4000
MAX_NOTES = 400


def install(caller_stack: Callable[[FrameType | None], list[dict[str, Any]]]) -> None:
    """Listen. ``caller_stack`` gives the user's stack above a live frame, outermost first."""
    notes = _LogNotes(caller_stack)
    for module, artifact in LOGS:
        log = logging.getLogger(f"{module}.__{artifact}")
        is_on = log.level != logging.NOTSET
        log.addFilter(functools.partial(notes.filter, log, artifact, is_on))
        if not is_on:
            log.setLevel(logging.DEBUG)


class _LogNotes:
    """Writes the log records that are worth a note."""

    def __init__(self, caller_stack: Callable[[FrameType | None], list[dict[str, Any]]]) -> None:
        self._caller_stack = caller_stack
        self._written = 0
        self._is_in_ignored_operation = False

    def filter(self, log: logging.Logger, artifact: str, is_on: bool, record: logging.LogRecord) -> bool:
        """Write a note of the record if it is worth one. Whether the record is also to be printed.

        ``is_on``: the user's settings enable the log.
        """
        # formats arguments of torch's, whose __str__ may raise
        with degraded_if_it_fails(f"findings from the log `{artifact}`"):
            text = record.getMessage()
            if self._written < MAX_NOTES and self._is_worth_a_note(text):
                self._written += 1
                self._write(artifact, text)
        inherited = log.parent.getEffectiveLevel() if log.parent is not None else logging.WARNING
        return is_on or _is_enabled(artifact) or record.levelno >= inherited

    def _is_worth_a_note(self, text: str) -> bool:
        if OPERATION.match(text):
            self._is_in_ignored_operation = NO_CUDA_GRAPHS in text
        elif not text.startswith("     "):
            self._is_in_ignored_operation = False
        # the lines of an operation's stack follow it
        return not self._is_in_ignored_operation and not IGNORED.search(text)

    def _write(self, artifact: str, text: str) -> None:
        write_note(
            "compile_lens_log",
            {
                "log": artifact,
                "text": text[:MAX_TEXT],
                "origin": _origin_of_current_node(),
                "stack": self._caller_stack(_caller_of_logging()),
            },
        )


def _caller_of_logging() -> FrameType | None:
    own = (logging.__file__, __file__)
    return next((f for f in frames_outward(sys._getframe(1)) if f.f_code.co_filename not in own), None)


def _is_enabled(artifact: str) -> bool:
    """Whether the program has enabled the log since (``torch._logging.set_logs``)."""
    state = LOG_STATE.get()
    return state is not None and bool(state.is_artifact_enabled(artifact))


def _origin_of_current_node() -> str:
    """The lines of the user's program that the graph node being lowered comes from, as torch keeps them; '' outside of lowering."""
    virtualized = VIRTUALIZED.get()
    # outside of lowering `V.current_node` is a placeholder without `meta`
    meta = getattr(getattr(virtualized, "current_node", None), "meta", None)
    return str(meta.get("stack_trace") or "")[-MAX_TEXT:] if isinstance(meta, dict) else ""
