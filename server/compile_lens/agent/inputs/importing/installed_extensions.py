"""Finds compiled extensions of the project's own packages where the project is installed.

A build puts an extension beside the installed package, while its sources are analyzed where they lie: there it is not.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator

from ...runtime.libraries import installed_roots


def installed_extension(name: str) -> tuple[importlib.machinery.ModuleSpec, str] | None:
    """The spec of the compiled module ``name``, `package.part`, of an installed package, and the folder that has the package; None where
    none is installed."""
    inside = os.path.join(*name.split("."))
    for root in installed_roots():
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = os.path.join(root, f"{inside}{suffix}")
            if os.path.isfile(path):
                loader = importlib.machinery.ExtensionFileLoader(name, path)
                spec = importlib.util.spec_from_file_location(name, path, loader=loader)
                return (spec, root.rstrip(os.sep)) if spec is not None else None
    return None


def folders_of_package(name: str) -> Iterator[str]:
    """The folders of the imported package that the module ``name`` would be a part of."""
    yield from getattr(sys.modules.get(name.rpartition(".")[0]), "__path__", ())
