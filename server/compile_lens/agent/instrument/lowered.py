"""Compiles as far as Inductor writes code: what fails after Dynamo fails, and nothing waits for a C++ compiler.

Graphs are run as AOTAutograd has left them, so that what it dropped or reordered shows in the results.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..torch_internals.inductor import COMPILE_TO_MODULE
from . import compiler_options

# a graph of an earlier run would not be lowered, patterns take a second to make, and a trial of vector units starts the compiler
OPTIONS = {
    "torch._inductor.config.fx_graph_cache": "False",
    "torch._functorch.config.enable_autograd_cache": "False",
    "torch._inductor.config.pattern_matcher": "False",
    "torch._inductor.config.cpp.vec_isa_ok": "False",
}


def install() -> None:
    """Compile no code of Inductor's from now on."""
    compiler_options.apply(OPTIONS)
    COMPILE_TO_MODULE.wrap(lambda _: _written)


def _written(graph: Any) -> Any:
    """What stands for the module of ``graph`` (``GraphLowering``) once its code is written."""
    graph.codegen_with_cpp_wrapper() if graph.cpp_wrapper else graph.codegen()
    module = graph.module

    def call(given: list[Any]) -> Any:
        values = list(given)
        given.clear()  # as the code of Inductor does, which frees what it has read
        return tuple(module(*values))

    return SimpleNamespace(call=call, __file__=None)
