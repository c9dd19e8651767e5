"""Options of torch that the program changed, as assignments that a repro repeats."""

from __future__ import annotations

from typing import Any

from ..runtime.degraded import degraded
from ..torch_internals import dynamo, functorch, inductor

# a module of options, and its entries with their defaults
CONFIGS = (
    (dynamo.CONFIG, dynamo.CONFIG_ENTRIES),
    (inductor.CONFIG, inductor.CONFIG_ENTRIES),
    (functorch.CONFIG, functorch.CONFIG_ENTRIES),
)


def changed_options(before: list[str] | None = None) -> list[str]:
    """Assignments ``torch._dynamo.config.name = value`` for options that differ from torch's defaults, without those of ``before``."""
    found: list[str] = []
    for module, entries in CONFIGS:
        config, known = module.get(), entries.get()
        if config is None or known is None:
            continue
        try:
            defaults = {key: entry.default for key, entry in known.items()}
            for line in config.codegen_config().splitlines():
                key = line.partition(" = ")[0].removeprefix(f"{module.path}.")
                # torch counts an option as changed that was patched and restored (torch/utils/_config_module.py, torch 2.13)
                if line.strip() and not (key in defaults and _value(config, key) == defaults[key]):
                    found.append(line)
        except Exception as error:  # values of the user's, whose __eq__ and __repr__ may raise
            degraded(module.lost, error)
    return [line for line in found if line not in (before or ())]


def _value(config: Any, key: str) -> Any:
    value = config
    for part in key.split("."):
        value = getattr(value, part)
    return value
