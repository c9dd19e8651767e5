"""Options of torch's config modules by dotted name, as in ``torch._inductor.config.cpp.simdlen``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

from .core import CONFIG_MODULE

# what an entry of a config module reads from the environment when the module is executed (torch/utils/_config_module.py)
READ_AT_IMPORT = ("default", "env_value_default", "env_value_force")


def set_option(name: str, value: Any) -> bool:
    """Set an option. False where this torch has none of that name."""
    found = find_option(name)
    if found is None:
        return False
    owner, last = found
    setattr(owner, last, value)
    return True


def set_loaded_option(name: str, value: Any) -> None:
    """Set an option whose module has been imported; otherwise the module reads its environment variable later."""
    if name.rpartition(".")[0] in sys.modules:
        set_option(name, value)


def find_option(name: str) -> tuple[Any, str] | None:
    """The object that holds an option, and the option's own name; None where this torch has no such option."""
    parts = name.split(".")
    at = parts.index("config") + 1 if "config" in parts else len(parts) - 1
    try:
        owner: Any = importlib.import_module(".".join(parts[:at]))
        for part in parts[at:-1]:
            owner = getattr(owner, part)
        getattr(owner, parts[-1])
    except (ImportError, AttributeError):
        return None
    return owner, parts[-1]


def config_modules() -> list[ModuleType]:
    """The config modules of torch that are imported."""
    kind = CONFIG_MODULE.get()
    return [module for module in list(sys.modules.values()) if kind is not None and isinstance(module, kind)]


def read_defaults_again(module: ModuleType) -> None:
    """Give the options of a config module the defaults that it would read from the environment now; what was set stays set.

    Raises what the execution of the module raises.
    """
    spec = module.__spec__
    assert spec is not None and spec.loader is not None
    fresh: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = fresh  # it looks for itself there
    try:
        spec.loader.exec_module(fresh)
    finally:
        sys.modules[spec.name] = module
    current: Any = module
    for name, entry in fresh._config.items():
        for attribute in READ_AT_IMPORT:
            if name in current._config:
                setattr(current._config[name], attribute, getattr(entry, attribute))
    # that the digest of all options is outdated: up to torch 2.12, and since
    if hasattr(current, "_is_dirty"):
        current._is_dirty = True
    else:
        current._hash_dirty_var.set(True)
        current._get_dict_dirty_keys_var.set(None)
