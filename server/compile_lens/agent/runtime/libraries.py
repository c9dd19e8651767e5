"""Lists the folders of installed code in this interpreter."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig


def library_roots() -> list[str]:
    """Folders of installed code, torch's own included (it may be a checkout). torch must be imported."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in paths}
    return sorted({torch_folder(), *(os.path.join(folder, "") for folder in folders)})


@functools.cache
def installed_roots() -> tuple[str, ...]:
    """Folders of installed packages, without the standard library. torch must be imported."""
    paths = sysconfig.get_paths()
    return (torch_folder(), *(os.path.join(paths[name], "") for name in ("purelib", "platlib") if name in paths))


def torch_folder() -> str:
    """torch's own folder, with the separator: torchvision is another package. torch must be imported."""
    return os.path.join(str(sys.modules["torch"].__path__[0]), "")
