"""Compares what compiled graphs compute with what eager computes, for the inputs that the program gives them.

Each graph that Dynamo passes to a backend also runs as it is and in fp64, on copies of its inputs made before the call, with the
random state of the call. Gradients are compared once the program has asked for them, from the gradients that its backward started
with. What the program computes, draws and changes stays the same.

Meanwhile Inductor draws random numbers as eager does (``torch._inductor.config.fallback_random``), and CUDA graphs are off: both
would make comparisons fail although nothing is wrong.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..torch_internals.attributes import original_backend
from ..torch_internals.core import CURRENT_COMPILE_ID, CURRENT_GRAPH_TASK_ID
from ..torch_internals.dynamo import CALL_USER_COMPILER
from ..torch_internals.inductor import FALLBACK_RANDOM
from .compared_call import ComparedCall, ComparedGraph, write_comparison
from .reference import RandomState, eager_graph

MAX_PENDING = 8
MAX_TEXT = 600


def install() -> None:
    """Compare every graph that is compiled from now on."""
    comparer = Comparer()

    def comparing(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile_graph(owner: Any, module: Any, *arguments: Any) -> Any:
            return comparer.compile(owner.compiler_fn, module, lambda: original(owner, module, *arguments))

        return compile_graph

    if not CALL_USER_COMPILER.wrap(comparing):
        _not_compared("-", "this version of torch does not expose its graphs")
        return
    FALLBACK_RANDOM.set(True)
    # gradients that are pending when the program ends: its own atexit functions run first
    atexit.register(comparer.compare_pending_gradients, at_end=True)


class Comparer:
    """All comparisons of a run."""

    def __init__(self) -> None:
        self._is_comparing = False
        # calls whose gradients the program may still ask for
        self._pending: list[ComparedCall] = []

    def compile(self, backend: Any, module: Any, compile_it: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """Compile as usual, and return a function that compares as it computes."""
        compile_id = str(CURRENT_COMPILE_ID.get(default=lambda: None)() or "-")
        graph = None
        try:
            _disable_cuda_graphs(backend)
            graph = ComparedGraph(compile_id, eager_graph(module))
        except Exception as error:
            _not_compared(compile_id, f"the graph cannot be copied: {_first_line(error)}")
        compiled = compile_it()
        if graph is None:
            return compiled
        graph.compiled = compiled
        return functools.partial(self._call, graph)

    def _call(self, graph: ComparedGraph, *arguments: Any) -> Any:
        """Run the compiled graph, and compare the first, second, fourth, eighth … call."""
        self.compare_pending_gradients()
        graph.calls += 1
        if self._is_comparing or graph.has_failed or graph.calls & (graph.calls - 1):
            return graph.compiled(*arguments)
        call = ComparedCall(graph)
        with self._reporting_failure(graph):
            call.prepare(arguments)
        result = graph.compiled(*arguments)
        if not graph.has_failed:
            after = RandomState()
            with self._reporting_failure(graph):
                call.compare(arguments, result, after)
                if call.watch_gradients(result):
                    self._pending = [*self._pending[-MAX_PENDING:], call]
            after.restore()
        return result

    def compare_pending_gradients(self, at_end: bool = False) -> None:
        """Compare the gradients of calls whose backward is over. ``at_end``: there are no further calls."""
        if self._is_comparing or not self._pending or CURRENT_GRAPH_TASK_ID.get(default=lambda: -1)() != -1:
            return
        ready = [call for call in self._pending if call.tangents]
        self._pending = [] if at_end else [call for call in self._pending if not call.tangents]
        if ready:
            random = RandomState()
            for call in ready:
                with self._reporting_failure(call.graph):
                    call.compare_gradients()
            random.restore()

    @contextlib.contextmanager
    def _reporting_failure(self, graph: ComparedGraph) -> Iterator[None]:
        """Report once why a graph cannot be compared; the program continues."""
        import torch

        self._is_comparing = True
        try:
            yield
        except torch.cuda.OutOfMemoryError:
            graph.has_failed = True
            _not_compared(graph.compile_id, "there is not enough GPU memory for a copy of the inputs")
        except Exception as error:
            graph.has_failed = True
            _not_compared(graph.compile_id, _first_line(error))
        finally:
            self._is_comparing = False


def _not_compared(compile_id: str, reason: str) -> None:
    write_comparison(compile_id, {"status": "not-compared", "reason": reason})


def _disable_cuda_graphs(backend: Any) -> None:
    """``mode="reduce-overhead"`` is an entry of the options that the default backend keeps (torch/__init__.py, torch 2.6 to 2.13)."""
    while backend is not None:
        options = getattr(backend, "config", None)
        if isinstance(options, dict) and options.get("triton.cudagraphs"):
            options["triton.cudagraphs"] = False
        backend = original_backend(backend)


def _first_line(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return (text or type(error).__name__)[:MAX_TEXT]
