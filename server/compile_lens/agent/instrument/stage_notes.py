"""Notes for a run whose stages are to be shown: the IR around fusion, what the scheduler decided, and where each kernel comes from.

torch has all of it while it compiles, and writes it to its debug folder or its logs alone. A run that does not ask has none of this.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from ..runtime.degraded import degraded, degraded_if_it_fails
from ..torch_internals.core import LOG_STATE
from ..torch_internals.inductor import LOG_IR_POST_FUSION, LOG_IR_PRE_FUSION
from ..torch_internals.options import set_option
from . import kept_stages
from .import_hook import change_at_import
from .trace_sink import write_note

FUSION_LOG = "torch._inductor.scheduler.__fusion"
# what torch records more with, and what would leave out a compilation
OPTIONS: tuple[tuple[tuple[str, Any], ...], ...] = (
    (
        ("torch._inductor.config.trace.provenance_tracking_level", 1),
        # before torch 2.9
        ("torch._inductor.config.trace.provenance_tracking", True),
    ),
    (("torch._functorch.config.enable_autograd_cache", False),),
)
GRAPH_CACHE = (("torch._inductor.config.fx_graph_cache", False),)
# a large graph has pairs of nodes without end
MAX_DECISIONS = 2000
MAX_TEXT = 1 << 22
# ``cannot fuse op0 with op1: reason`` (``WhyNoFuse`` in torch/_inductor/scheduler.py, torch 2.6 to 2.15)
DECISION = re.compile(r"cannot fuse (?P<one>\S+) with (?P<other>\S+): (?P<why>.+)", re.DOTALL)


def install() -> None:
    """Listen, and have torch record where kernels come from."""
    keeps = kept_stages.is_possible()
    for alternatives in OPTIONS if keeps else (*OPTIONS, GRAPH_CACHE):
        if not any(set_option(name, value) for name, value in alternatives):
            degraded("where kernels come from", f"this torch has no `{alternatives[0][0]}`")
    if keeps:
        kept_stages.install()
    notes = _StageNotes()
    notes.listen()
    change_at_import({"torch._inductor.debug": notes.wrap})


class _StageNotes:
    """Writes what the scheduler of one graph after the other tells."""

    def __init__(self) -> None:
        self._decisions: dict[tuple[str, str], str] = {}

    def wrap(self, _module: ModuleType) -> None:
        """Have the notes written where torch would log the IR."""
        LOG_IR_PRE_FUSION.wrap(functools.partial(_before, self._on_ir_before))
        LOG_IR_POST_FUSION.wrap(functools.partial(_before, self._on_ir_after))

    def listen(self) -> None:
        """Read the log of fusion, which stays as silent as it was."""
        log = logging.getLogger(FUSION_LOG)
        is_on = log.level != logging.NOTSET
        log.addFilter(functools.partial(self._filter, log, is_on))
        if not is_on:
            log.setLevel(logging.DEBUG)

    def _filter(self, log: logging.Logger, is_on: bool, record: logging.LogRecord) -> bool:
        """Take what a record says. Whether it is also to be printed, as the user's settings want it."""
        with degraded_if_it_fails("why kernels are not fused"):  # formats sizes of torch's, whose __str__ may raise
            self._take(record.msg)
        inherited = log.parent.getEffectiveLevel() if log.parent is not None else logging.WARNING
        state = LOG_STATE.get()
        is_asked = state is not None and bool(state.is_artifact_enabled("fusion"))
        return is_on or is_asked or record.levelno >= inherited

    def _take(self, message: object) -> None:
        # the others are of no use here, and some print whole nodes
        if isinstance(message, str) or len(self._decisions) >= MAX_DECISIONS:
            return
        if found := DECISION.fullmatch(str(message)):
            self._decisions[found["one"], found["other"]] = found["why"].strip()

    def _on_ir_before(self, nodes: Iterable[Any]) -> None:
        self._decisions.clear()
        write_note("compile_lens_ir_pre_fusion", _printed(nodes), "string")

    def _on_ir_after(self, nodes: Iterable[Any]) -> None:
        nodes = list(nodes)
        write_note("compile_lens_ir_post_fusion", _printed(nodes), "string")
        decisions = [[one, other, why] for (one, other), why in self._decisions.items()]
        write_note("compile_lens_fusion", {"nodes": [_described(node) for node in nodes], "not_fused": decisions})


def _before(take: Callable[[Iterable[Any]], None], log: Callable[..., Any]) -> Callable[..., Any]:
    def take_and_log(nodes: Any, *rest: Any, **others: Any) -> Any:
        # prints nodes of any class, those of custom backends among them
        with degraded_if_it_fails("the IR around fusion"):
            take(nodes)
        return log(nodes, *rest, **others)

    return take_and_log


def _printed(nodes: Iterable[Any]) -> str:
    """As torch's own debug folder has it (``_write_ir`` in torch/_inductor/debug.py)."""
    return "\n\n\n".join(node.debug_str() for node in nodes)[:MAX_TEXT]


def _described(node: Any) -> dict[str, Any]:
    """A node of the schedule: its parts, and the bytes of each buffer that it reads and writes."""
    parts = list(node.get_nodes())
    return {
        "name": node.get_name(),
        "type": type(node).__name__,
        "parts": [_part(part) for part in parts],
        "reads": _accesses(node, reads=True),
        "writes": _accesses(node, reads=False),
        "avoided": _avoided(node, parts),
    }


def _part(part: Any) -> dict[str, Any]:
    inner = getattr(part, "node", None)
    origin = inner.get_origin_node() if inner is not None and hasattr(inner, "get_origin_node") else None
    return {
        "name": part.get_name(),
        "buffers": sorted(str(name) for name in part.get_buffer_names()),
        "origins": [str(one.name) for one in getattr(inner, "origins", ())],
        "origin": str(origin.name) if origin is not None else "",
    }


def _accesses(node: Any, reads: bool) -> dict[str, int]:
    """Bytes by buffer, as torch estimates them; nothing where this torch does not."""
    estimate = getattr(node, "get_read_write_buffer_accesses", None)
    if estimate is None:
        return {}
    return {str(name): int(size) for name, size in estimate(include_reads=reads, include_writes=not reads).items()}


def _avoided(node: Any, parts: list[Any]) -> dict[str, int]:
    """The buffers that parts of one kernel pass on to each other alone, and that are never in memory."""
    if len(parts) < 2:
        return {}
    kept = set(_accesses(node, reads=False))
    if not kept:
        return {}
    inside = set(node.get_operation_names())
    found: dict[str, int] = {}
    for part in parts:
        for name, size in _accesses(part, reads=False).items():
            users = [user.node.get_name() for buffer in part.get_outputs() for user in buffer.users]
            if name not in kept and users and inside.issuperset(users):
                found[name] = size
    return found
