"""Switches of Inductor that torch's bisector does not know, tried one at a time: fusion first, then what generates code.

Each is an option of ``torch._inductor.config``, set to the value that makes the compiler do less (torch 2.6 to 2.13); one that this
torch does not have, or that has that value already, is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .bisect_step import Ended, find_option

PREFIX = "torch._inductor.config."
FUSION = ("fusion", "no fusion of operations into one kernel", {"max_fusion_size": 1, "epilogue_fusion": False})
# name, what the switch does, options
SWITCHES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    FUSION,
    ("inplace-buffers", "no kernel writes into the memory of its input", {"inplace_buffers": False}),
    ("buffer-reuse", "memory is not used again within the graph", {"allow_buffer_reuse": False}),
    ("pattern-matcher", "no replacement of patterns in the graph", {"pattern_matcher": False}),
    ("vectorization", "scalar C++ code", {"cpp.simdlen": 1}),
    ("threads", "C++ kernels on one thread", {"cpp.threads": 1}),
    ("fast-math", "C++ without contraction of a*b+c", {"cpp.enable_floating_point_contract_flag": "off"}),
    ("split-reductions", "reductions in one piece", {"split_reductions": False}),
    ("loop-ordering", "loops stay in the order of the lowering", {"loop_ordering_after_fusion": False}),
    ("triton-persistent-reductions", "no persistent reductions", {"triton.persistent_reductions": False}),
    ("triton-multi-kernel", "one variant of each Triton kernel", {"triton.multi_kernel": 0}),
    ("max-autotune", "no choice of kernels by measuring", {"max_autotune": False, "max_autotune_gemm": False}),
    ("freezing", "weights stay inputs", {"freezing": False}),
)


def ablate(verdict: dict[str, Any], run: Callable[[dict[str, Any], str], Ended]) -> None:
    """Try what fits the verdict: every switch when torch found no subsystem in Inductor, fusion alone for a lowering."""
    if verdict["backend"] != "inductor":
        return
    if verdict["subsystem"] is None:
        for switch in SWITCHES:
            _try(switch, run)
    elif verdict["subsystem"] == "lowerings":
        _try(FUSION, run)


def _try(switch: tuple[str, str, dict[str, Any]], run: Callable[[dict[str, Any], str], Ended]) -> None:
    name, meaning, options = switch
    known = {PREFIX + option: value for option, value in options.items() if find_option(PREFIX + option) is not None}
    if not known or all(_value(option) == value for option, value in known.items()):
        return
    run({"name": name, "meaning": meaning, "options": known}, "inductor")


def _value(option: str) -> Any:
    found = find_option(option)
    assert found is not None, option
    return getattr(*found)
