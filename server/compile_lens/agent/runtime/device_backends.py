"""Loads extensions of torch for other devices, which `import torch` looks for among all packages (the entry points ``torch.backends``).

What an installer has put there is loaded with torch, outside of a sandbox. An extension in a folder that an editable install links to is
code of a workspace: the run loads it in its sandbox, before the program.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from typing import Any

from ..torch_internals.core import IMPORT_BACKENDS
from ..torch_internals.dynamo import FIND_BACKENDS, IMPORT_COMPILERS
from .degraded import degraded
from .gpu_presence import environment

GROUP = "torch.backends"
# torch/__init__.py
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_is_wanted = False
# what torch has loaded when it was imported: name and object reference
_loaded: frozenset[tuple[str, str]] = frozenset()
_is_put_off = False


@contextlib.contextmanager
def only_installed() -> Iterator[None]:
    """Let `import torch` in the block, where only installed code is imported, load no extension that it could not find."""
    global _is_wanted, _loaded, _is_put_off
    _is_wanted = os.environ.get(AUTOLOAD, "1") == "1"
    found = importlib.metadata.entry_points(group=GROUP) if _is_wanted else ()
    _is_put_off = not all(map(_is_found, found))
    _loaded = frozenset() if _is_put_off else frozenset((each.name, each.value) for each in found)
    with environment(**{AUTOLOAD: "0"}) if _is_put_off else contextlib.nullcontext():
        yield


def load_others(folders: list[str]) -> None:
    """Load what could not be found, and extensions of packages in ``folders``, which Python imports from by now. Reports a failure."""
    if folders:
        # what torch remembers of entry points is without those of packages there
        for remembered in (IMPORT_COMPILERS.look_up(), FIND_BACKENDS.look_up()):
            if hasattr(remembered, "cache_clear"):
                remembered.cache_clear()
    if not _is_wanted or not (_is_put_off or any(map(_has_extension, importlib.metadata.distributions(path=folders)))):
        return
    others = [each for each in importlib.metadata.entry_points(group=GROUP) if (each.name, each.value) not in _loaded]
    load = IMPORT_BACKENDS.get()
    if load is None or not others:
        return
    ask = importlib.metadata.entry_points
    importlib.metadata.entry_points = _answering(others)
    try:
        load()
    except (Exception, SystemExit) as error:  # a plain `import torch` would end
        degraded(f"the extension of torch `{others[0].name}`" if len(others) == 1 else "extensions of torch", error)
    finally:
        importlib.metadata.entry_points = ask


def _answering(entries: list[importlib.metadata.EntryPoint]) -> Any:
    return lambda **_: entries


def _has_extension(installed: importlib.metadata.Distribution) -> bool:
    try:
        return any(each.group == GROUP for each in installed.entry_points)
    except (OSError, ValueError):
        return False


def _is_found(entry: importlib.metadata.EntryPoint) -> bool:
    """Whether the module is where this process imports from."""
    try:
        return importlib.machinery.PathFinder.find_spec(entry.module.partition(".")[0], sys.path) is not None
    except (AttributeError, ValueError):  # not written as an object reference
        return False
