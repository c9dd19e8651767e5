"""Private names of ``torch._inductor``."""

from __future__ import annotations

from .lookup import Internal

AOTI_COMPILE_AND_PACKAGE = Internal(
    "torch._inductor:aoti_compile_and_package", lost="the place of calls of AOTInductor that fail"
)
CONFIG = Internal("torch._inductor.config", lost="options of Inductor")
CONFIG_ENTRIES = Internal("torch._inductor.config:_config", lost="options of Inductor")
FALLBACK_RANDOM = Internal(
    "torch._inductor.config:fallback_random", lost="the comparison of graphs that draw random numbers"
)
VIRTUALIZED = Internal("torch._inductor.virtualized:V", lost="the lines that performance hints refer to")
