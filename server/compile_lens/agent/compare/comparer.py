"""Compares what compiled graphs compute with what eager computes, over the inputs that the program gives them.

Each graph that Dynamo hands to a backend is run a second time as it is, and a third time in fp64, on copies of its inputs made before
the call, with the random state of the call. Gradients are compared once the program has asked for them, with the gradients that
it started from. What the program computes, draws and changes stays what it would be.

Inductor draws random numbers as eager does meanwhile (``torch._inductor.config.fallback_random``), and no CUDA graphs are used: both
would make comparisons fail without anything being wrong.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from .compared_call import ComparedCall, Graph, write
from .reference import RandomState, eager_graph

MOST_WAITING = 8
MOST_WORDS = 600


def install() -> None:
    """Compare every graph that is compiled from now on."""
    import torch._dynamo.output_graph as output_graph
    import torch._inductor.config as inductor_config

    comparer = Comparer()
    graph: Any = output_graph.OutputGraph
    original = getattr(graph, "call_user_compiler", None)
    if original is None:
        write("-", {"status": "not-compared", "reason": "this version of torch does not let its graphs be compared"})
        return
    inductor_config.fallback_random = True

    @functools.wraps(original)
    def compile_graph(owner: Any, module: Any, *arguments: Any) -> Any:
        return comparer.compile(owner.compiler_fn, module, lambda: original(owner, module, *arguments))

    graph.call_user_compiler = compile_graph
    # what has not been compared when the program ends: its atexit functions run first
    atexit.register(comparer.catch_up, at_end=True)


class Comparer:
    """All comparisons of a run."""

    def __init__(self) -> None:
        self._busy = False
        # calls whose gradients the program may ask for yet
        self._waiting: list[ComparedCall] = []

    def compile(self, backend: Any, module: Any, compile_it: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """Compile as ever, and give back a function that compares as it computes."""
        import torch._guards

        compile_id = str(torch._guards.CompileContext.current_compile_id() or "-")
        graph = None
        try:
            _leave_out_cuda_graphs(backend)
            graph = Graph(compile_id, eager_graph(module))
        except Exception as error:
            write(compile_id, {"status": "not-compared", "reason": f"its graph cannot be copied: {_words(error)}"})
        compiled = compile_it()
        if graph is None:
            return compiled
        graph.compiled = compiled
        return functools.partial(self._call, graph)

    def _call(self, graph: Graph, *arguments: Any) -> Any:
        """Run what was compiled, and compare the first, second, fourth, eighth … call."""
        self.catch_up()
        graph.calls += 1
        if self._busy or graph.given_up or graph.calls & (graph.calls - 1):
            return graph.compiled(*arguments)
        call = ComparedCall(graph)
        with self._giving_up(graph):
            call.prepare(arguments)
        result = graph.compiled(*arguments)
        if not graph.given_up:
            after = RandomState()
            with self._giving_up(graph):
                call.compare(arguments, result, after)
                if call.follow(result):
                    self._waiting = [*self._waiting[-MOST_WAITING:], call]
            after.restore()
        return result

    def catch_up(self, at_end: bool = False) -> None:
        """Compare the gradients of calls whose backward is over. ``at_end``: there will be no further call."""
        import torch

        if self._busy or not self._waiting or torch._C._current_graph_task_id() != -1:
            return
        ready = [call for call in self._waiting if call.tangents]
        self._waiting = [] if at_end else [call for call in self._waiting if not call.tangents]
        if ready:
            random = RandomState()
            for call in ready:
                with self._giving_up(call.graph):
                    call.compare_gradients()
            random.restore()

    @contextlib.contextmanager
    def _giving_up(self, graph: Graph) -> Iterator[None]:
        """Say why a graph cannot be compared, once; the program goes on."""
        import torch

        self._busy = True
        try:
            yield
        except Exception as error:
            graph.given_up = True
            no_memory = isinstance(error, torch.cuda.OutOfMemoryError)
            reason = "there is no memory for a second copy of its inputs" if no_memory else _words(error)
            write(graph.compile_id, {"status": "not-compared", "reason": reason})
        finally:
            self._busy = False


def _leave_out_cuda_graphs(backend: Any) -> None:
    """``mode="reduce-overhead"`` is an entry of the options that the default backend keeps (torch/__init__.py, torch 2.6 to 2.13)."""
    while backend is not None:
        options = getattr(backend, "config", None)
        if isinstance(options, dict) and options.get("triton.cudagraphs"):
            options["triton.cudagraphs"] = False
        backend = getattr(backend, "_torchdynamo_orig_backend", None)


def _words(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return (text or type(error).__name__)[:MOST_WORDS]
