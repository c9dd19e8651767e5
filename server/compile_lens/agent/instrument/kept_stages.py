"""Lets a run whose stages are to be shown take unchanged graphs from torch's cache, with all that was recorded while they were compiled.

A graph from the cache is neither lowered nor scheduled, so nothing tells of its stages. Here, what is recorded while a graph is compiled
goes into its entry of the cache, and into the trace of each run that takes the entry. The key of the entry has, beside what torch puts
there, all that the records tell of the user's source: lines, names of nodes, the number of the graph.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..runtime.degraded import degraded
from ..torch_internals import inductor
from ..torch_internals.core import GRAPH_PROVENANCE, TRACE_STRUCTURED
from ..torch_internals.lookup import torch_version
from .import_hook import change_at_import
from .trace_sink import filter_records

LOST = "stages of graphs from torch's cache"
NEEDED = (
    GRAPH_PROVENANCE,
    inductor.GRAPH_KEY,
    inductor.SAVE_GRAPH,
    inductor.TAKE_GRAPH,
    inductor.GENERATE_CODE,
    inductor.PRE_GRAD_GRAPH,
    inductor.PRE_GRAD_STACKS,
)
# older ones have these names, and other keys and records
MADE_FOR = (2, 13)
# of an entry of torch's cache
RECORDS = "_compile_lens_records"
# what tells of the run: times, and the numbers of strings
OF_RUN = frozenset({"chromium_event", "str"})
# what tells of the graph, and refers to nothing of the run
OF_GRAPH = frozenset({"artifact", "inductor_output_code", "inductor_post_grad_graph", "graph_dump"})
# what Triton compiles is told of outside of these records, too
DEVICES = frozenset({"cpu"})

Record = tuple[str, Any, "str | None"]


def is_possible() -> bool:
    """Whether the installed torch is one whose cache this has been made for."""
    return torch_version() >= MADE_FOR and all(name.is_expected for name in NEEDED)


def install() -> None:
    """Keep what is recorded of each graph, and give it back with the graph."""
    kept = _KeptStages()
    filter_records(kept.accepts)
    change_at_import({"torch._inductor.codecache": kept.wrap_cache, "torch._inductor.compile_fx": kept.wrap_compiler})


@dataclass(slots=True)
class _Compiling:
    """A graph that is being compiled; ``whole`` if its records are all that has to be told of it."""

    records: list[Record]
    whole: bool = True


class _KeptStages:
    def __init__(self) -> None:
        self._thread = threading.local()
        # what was recorded of the graph that was compiled last, until it is saved
        self._compiled: _Compiling | None = None
        self._without_key: set[str] = set()

    def wrap_cache(self, _module: ModuleType) -> None:
        """Change the cache of graphs."""
        inductor.GRAPH_KEY.wrap(self._around_key)
        inductor.SAVE_GRAPH.wrap(self._around_save)
        inductor.TAKE_GRAPH.wrap(self._around_take)

    def wrap_compiler(self, _module: ModuleType) -> None:
        """Listen while a graph is compiled."""
        inductor.GENERATE_CODE.wrap(self._around_compile)

    # -- the trace

    def accepts(self, record: logging.LogRecord) -> bool:
        """Take note of a record. Whether it goes into the trace: what torch repeats of a graph from its cache is told by our records."""
        metadata: dict[str, Any] = getattr(record, "metadata", {})
        name = next(iter(metadata), "")
        if name in OF_RUN:
            return True
        for compiling in self._open:
            if name in OF_GRAPH and "stack" not in metadata:
                compiling.records.append((name, metadata[name], getattr(record, "payload", None)))
            else:
                compiling.whole = False
        return not getattr(self._thread, "takes", False)

    @property
    def _open(self) -> list[_Compiling]:
        """The graphs that this thread is compiling: a graph may be compiled to compile another one."""
        found: list[_Compiling] | None = getattr(self._thread, "open", None)
        if found is None:
            found = self._thread.open = []
        return found

    # -- a graph is compiled

    def _around_compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def generate(*given: Any, **named: Any) -> Any:
            compiling = _Compiling([])
            self._open.append(compiling)
            self._compiled = None
            try:
                result = original(*given, **named)
                self._compiled = compiling
                return result
            finally:
                self._open.remove(compiling)

        return generate

    def _around_save(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def save(key: str, compiled_graph: Any, *rest: Any, **named: Any) -> Any:
            compiling, self._compiled = self._compiled, None
            if compiling is None or not compiling.whole or key in self._without_key:
                return None
            if not DEVICES.issuperset(getattr(compiled_graph, "device_types", ("unknown",))):
                return None
            setattr(compiled_graph, RECORDS, compiling.records)
            try:
                return original(key, compiled_graph, *rest, **named)
            finally:
                delattr(compiled_graph, RECORDS)

        return save

    # -- a graph is taken from the cache

    def _around_key(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def key_of(gm: Any, example_inputs: Any, fx_kwargs: Any, *rest: Any, **named: Any) -> Any:
            key, lines = original(gm, example_inputs, fx_kwargs, *rest, **named)
            try:
                told = hashlib.sha256(_told_of(gm, fx_kwargs).encode("utf-8", "replace")).hexdigest()
            except Exception as error:  # prints graphs with values of any class
                degraded(LOST, error)
                told = uuid.uuid4().hex
                self._without_key.add(key + told)
            return key + told, lines

        return key_of

    def _around_take(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def take(graph: Any, cache_info: Any, *rest: Any, **named: Any) -> Any:
            records: list[Record] | None = getattr(graph, RECORDS, None)
            if records is None:
                return None, cache_info  # it is compiled anew
            with self._taking():
                found = original(graph, cache_info, *rest, **named)
            if found[0] is not None:
                for name, metadata, payload in records:
                    TRACE_STRUCTURED.need()(name, lambda it=metadata: it, payload_fn=lambda it=payload: it)
            return found

        return take

    @contextlib.contextmanager
    def _taking(self) -> Iterator[None]:
        self._thread.takes = True
        try:
            yield
        finally:
            self._thread.takes = False


def _told_of(gm: Any, arguments: Any) -> str:
    """All that records tell of a graph and that torch leaves out of its key: two graphs of the same text have the same records."""
    pre_grad = inductor.PRE_GRAD_GRAPH.need()
    numbers: dict[Any, int] = {}
    graphs = [one for one in gm.modules() if hasattr(one, "graph")]
    told = [
        gm.print_readable(print_output=False, include_stride=True, include_device=True),
        [[(node.name, node.meta.get("stack_trace")) for node in one.graph.nodes] for one in graphs],
        [
            [
                (name, _numbered(sources, pre_grad, numbers))
                for name, sources in GRAPH_PROVENANCE.need()(one.graph).items()
            ]
            for one in graphs
        ],
        inductor.PRE_GRAD_STACKS.need(),
        # in the first line of the code
        arguments.get("graph_id"),
    ]
    return json.dumps(told)


def _numbered(sources: Any, pre_grad: Any, numbers: dict[Any, int]) -> list[Any]:
    """What a node was made of, with graphs numbered as they appear: torch names them by addresses."""
    found = []
    for source in sources:
        graph = source["graph_id"]
        number = -1 if graph == pre_grad else numbers.setdefault(graph, len(numbers))
        found.append([source["name"], number, _numbered(source["from_node"], pre_grad, numbers)])
    return found
