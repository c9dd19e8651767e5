"""What a user does today: ``TORCH_LOGS=graph_breaks,recompiles python FILE``, with the default backend written as ``eager`` or as it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.costs import Cost, cost
from benchmarks.editing import python_path

# replaces the default backend the way a user would, from outside: sitecustomize is imported before the program
EAGER = """
import importlib.abc, importlib.util, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch": return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            compile = module.compile
            module.compile = lambda model=None, **options: compile(model, **{**options, "backend": "eager"})
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, Finder())
"""


def plain_run(file: Path, folder: Path, eager: bool = True) -> Cost:
    """Run ``file``, with Inductor's caches and what replaces the backend in ``folder``. Raises RuntimeError if it fails."""
    environment = {
        "TORCH_LOGS": "graph_breaks,recompiles",
        "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
        "PYTHONPATH": python_path(),
    }
    if eager:
        (folder / "sitecustomize.py").write_text(EAGER)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), python_path()]))
    return cost([sys.executable, str(file)], file.parent, environment, check=True)
