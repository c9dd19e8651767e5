"""Options that torch's bisector does not cover, tried one at a time: of Inductor (fusion first, then code generation) and of AOTAutograd.

Each is set to the value that makes the compiler do less (torch 2.6 to 2.13). Options that this torch lacks, or that already have that
value, are left out.
"""

from __future__ import annotations

from typing import Any

from ..runtime.search_protocol import SwitchTried, VerdictReached
from ..torch_internals.options import find_option

PREFIX = "torch._inductor.config."
AOT_PREFIX = "torch._functorch.config."
AOT_BACKENDS = ("aot_eager", "aot_eager_decomp_partition")
FUSION = ("fusion", "no fusion of operations", {"max_fusion_size": 1, "epilogue_fusion": False})
# name, what the switch does, options
SWITCHES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    FUSION,
    ("inplace-buffers", "no kernel writes in place", {"inplace_buffers": False}),
    ("buffer-reuse", "no reuse of buffers within the graph", {"allow_buffer_reuse": False}),
    ("pattern-matcher", "no pattern matching on the graph", {"pattern_matcher": False}),
    ("vectorization", "scalar C++ code", {"cpp.simdlen": 1}),
    ("threads", "single-threaded C++ kernels", {"cpp.threads": 1}),
    ("fast-math", "C++ without contraction of a*b+c to an FMA", {"cpp.enable_floating_point_contract_flag": "off"}),
    ("split-reductions", "no split reductions", {"split_reductions": False}),
    ("loop-ordering", "no reordering of loops after fusion", {"loop_ordering_after_fusion": False}),
    ("triton-persistent-reductions", "no persistent reductions", {"triton.persistent_reductions": False}),
    ("triton-multi-kernel", "one variant of each Triton kernel", {"triton.multi_kernel": 0}),
    ("max-autotune", "no autotuning", {"max_autotune": False, "max_autotune_gemm": False}),
    ("freezing", "weights stay inputs of the graph", {"freezing": False}),
)
# of AOTAutograd (torch/_functorch/config.py); torch's search tries `cse` alone, and only after `aot_eager` was good
AOT_SWITCHES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("cse", "no elimination of common subexpressions", {"cse": False}),
    ("view-replay", "no replay of views for outputs that alias", {"view_replay_for_aliased_outputs": False}),
    ("donated-buffers", "no donated buffers", {"donated_buffer": False}),
    ("tangent-strides", "contiguous tangents", {"guess_tangent_strides_as_outputs": False}),
    ("static-weights", "no assumption that sizes of weights are static", {"static_weight_shapes": False}),
)


def switches_for(verdict: VerdictReached) -> list[SwitchTried]:
    """Every switch of the backend if torch found no subsystem, fusion alone for a lowering, otherwise none."""
    is_aot = verdict.backend in AOT_BACKENDS
    if not is_aot and verdict.backend != "inductor":
        return []
    candidates: dict[str | None, tuple[tuple[str, str, dict[str, Any]], ...]] = (
        {None: AOT_SWITCHES} if is_aot else {None: SWITCHES, "lowerings": (FUSION,)}
    )
    prefix = AOT_PREFIX if is_aot else PREFIX
    switches = [
        SwitchTried(name, meaning, known)
        for name, meaning, options in candidates.get(verdict.subsystem, ())
        if (known := {prefix + option: value for option, value in options.items() if find_option(prefix + option)})
    ]
    return [switch for switch in switches if any(_value(name) != value for name, value in switch.options.items())]


def _value(option: str) -> Any:
    found = find_option(option)
    assert found is not None, option
    return getattr(*found)
