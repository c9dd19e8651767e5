"""Private names of ``torch._functorch``."""

from __future__ import annotations

from .lookup import Internal

CONFIG = Internal("torch._functorch.config", lost="options of AOTAutograd")
CONFIG_ENTRIES = Internal("torch._functorch.config:_config", lost="options of AOTAutograd")
