"""Settings of torch that a repro must have, too: options that the program changed, and the modes that a call was made in."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

CONFIGS = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")


def changed_options(before: list[str] | None = None) -> list[str]:
    """Assignments ``torch._dynamo.config.name = value`` for what is not as torch has it, without those of ``before``."""
    found: list[str] = []
    for name in CONFIGS:
        with contextlib.suppress(Exception):
            config: Any = importlib.import_module(name)
            defaults = {key: entry.default for key, entry in config._config.items()}
            for line in config.codegen_config().splitlines():
                key = line.partition(" = ")[0].removeprefix(f"{name}.")
                # what was patched and put back counts as changed for torch (torch/utils/_config_module.py, torch 2.13)
                if line.strip() and not (key in defaults and _value(config, key) == defaults[key]):
                    found.append(line)
    return [line for line in found if line not in (before or ())]


def _value(config: Any, key: str) -> Any:
    value = config
    for part in key.split("."):
        value = getattr(value, part)
    return value


def state_of_call() -> dict[str, Any]:
    """The modes that are on where a region is called."""
    import torch

    state: dict[str, Any] = {
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "default_dtype": str(torch.get_default_dtype()),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "autocast": [],
    }
    for device in ("cpu", "cuda"):
        with contextlib.suppress(Exception):
            if torch.is_autocast_enabled(device):
                state["autocast"].append([device, str(torch.get_autocast_dtype(device))])
    return state
