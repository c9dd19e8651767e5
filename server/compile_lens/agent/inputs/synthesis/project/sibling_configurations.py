"""Finds classes of configurations in the files beside a module: `config.py` has what the models of `decoder.py` take."""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Iterator
from types import ModuleType

from ....runtime.foreign_code import attempted

_FILES = re.compile(r"(?:\w*_)?(?:config|configs|configuration|configurations|args|arguments|hparams|options)(?:_\w*)?")
MOST_FILES = 3


def sibling_configurations(module: ModuleType) -> Iterator[ModuleType]:
    """The modules of configurations in the package of ``module``: those in its folder, then those in the folder above."""
    package = module.__name__.rpartition(".")[0]
    folder = os.path.dirname(str(getattr(module, "__file__", "") or ""))
    count = 0
    for _ in range(2):
        if not package or not folder:
            return
        for name in sorted(os.listdir(folder)):
            stem, extension = os.path.splitext(name)
            if extension != ".py" or _FILES.fullmatch(stem) is None or count >= MOST_FILES:
                continue
            found = attempted(functools.partial(importlib.import_module, f"{package}.{stem}"))
            if found is not None and found is not module:
                count += 1
                yield found
        package, folder = package.rpartition(".")[0], os.path.dirname(folder)
