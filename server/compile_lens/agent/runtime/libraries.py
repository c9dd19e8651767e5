"""Lists the folders of installed code in this interpreter."""

from __future__ import annotations

import os
import sys
import sysconfig


def library_roots() -> list[str]:
    """Folders of installed code, torch's own included (it may be a checkout). torch must be imported."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in paths}
    folders.add(str(sys.modules["torch"].__path__[0]))
    return sorted(os.path.join(folder, "") for folder in folders)
