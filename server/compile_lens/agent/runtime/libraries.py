"""Lists the folders of installed code in this interpreter."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterator

from .installed_imports import SITE_FOLDERS, installed_folders, whole_path

# names of paths in `sysconfig`
STANDARD = ("stdlib", "platstdlib")


@functools.cache
def library_roots() -> tuple[str, ...]:
    """Folders of installed code, torch's own included (it may be a checkout). torch must be imported when this is first called."""
    paths = sysconfig.get_paths()
    return tuple(sorted({*installed_roots(), *(os.path.join(paths[name], "") for name in STANDARD if name in paths)}))


@functools.cache
def installed_roots() -> tuple[str, ...]:
    """Folders of installed packages, without the standard library. torch must be imported.

    Some are not in the interpreter's own folder: those of the user, of the interpreter under a virtual environment, and those that
    ``pip install --target`` put into a folder of PYTHONPATH, where the user's own files may lie beside them.
    """
    paths = sysconfig.get_paths()
    found = {os.path.join(paths[name], "") for name in ("purelib", "platlib") if name in paths}
    # in other folders, as those that an editable install links to, a workspace may say itself that it is installed
    folders = installed_folders(whole_path())
    found |= {os.path.join(path, "") for path in folders if os.path.basename(path.rstrip("/\\")) in SITE_FOLDERS}
    elsewhere = [path for path in folders if os.path.join(path, "") not in found]
    return tuple(sorted({torch_folder(), *found, *_placed_packages(elsewhere)}))


def _placed_packages(folders: list[str]) -> Iterator[str]:
    """The packages, and the files of modules, that an installer put into one of ``folders``."""
    for installed in importlib.metadata.distributions(path=folders):
        # a folder `X.egg-info` is what a build leaves beside the user's sources
        if str(getattr(installed, "_path", "")).endswith(".dist-info"):
            for name in {file.parts[0] for file in installed.files or () if file.suffix == ".py"}:
                if name != ".." and not name.endswith((".dist-info", ".data")):
                    place = str(installed.locate_file(name))
                    yield place if name.endswith(".py") else os.path.join(place, "")


def import_paths() -> list[str]:
    """Absolute folders that this interpreter imports from: those of PYTHONPATH, and of packages installed as links to their source."""
    found = [path for path in whole_path() if os.path.isabs(path)]
    for name, module in list(sys.modules.items()):
        # what setuptools writes for an editable install (setuptools/command/editable_wheel.py)
        mapping = getattr(module, "MAPPING", None) if name.startswith("__editable__") else None
        found += [os.path.dirname(str(folder)) for folder in mapping.values()] if isinstance(mapping, dict) else []
    return list(dict.fromkeys(found))


def torch_folder() -> str:
    """torch's own folder, with the separator: torchvision is another package. torch must be imported."""
    return os.path.join(str(sys.modules["torch"].__path__[0]), "")
