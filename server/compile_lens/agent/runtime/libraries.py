"""Lists the folders of installed code in this interpreter."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig


@functools.cache
def library_roots() -> tuple[str, ...]:
    """Folders of installed code, torch's own included (it may be a checkout). torch must be imported when this is first called."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in paths}
    return tuple(sorted({torch_folder(), *(os.path.join(folder, "") for folder in folders)}))


def import_paths() -> list[str]:
    """Absolute folders that this interpreter imports from: those of PYTHONPATH, and of packages installed as links to their source."""
    found = [path for path in sys.path if os.path.isabs(path)]
    for name, module in list(sys.modules.items()):
        # what setuptools writes for an editable install (setuptools/command/editable_wheel.py)
        mapping = getattr(module, "MAPPING", None) if name.startswith("__editable__") else None
        found += [os.path.dirname(str(folder)) for folder in mapping.values()] if isinstance(mapping, dict) else []
    return list(dict.fromkeys(found))


@functools.cache
def installed_roots() -> tuple[str, ...]:
    """Folders of installed packages, without the standard library. torch must be imported."""
    paths = sysconfig.get_paths()
    return (torch_folder(), *(os.path.join(paths[name], "") for name in ("purelib", "platlib") if name in paths))


def torch_folder() -> str:
    """torch's own folder, with the separator: torchvision is another package. torch must be imported."""
    return os.path.join(str(sys.modules["torch"].__path__[0]), "")
