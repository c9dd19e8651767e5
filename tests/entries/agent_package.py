"""The agent's package, loaded here as ``boot.py`` loads it: its solver needs torch, and no process of its own."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from compile_lens.workers.host import AGENT_FOLDER

NAME = "_compile_lens_agent"


def agent_module(name: str) -> ModuleType:
    """``entries.synthesis.target`` of the agent."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            NAME, AGENT_FOLDER / "__init__.py", submodule_search_locations=[str(AGENT_FOLDER)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[NAME] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return importlib.import_module(f"{NAME}.{name}")


def imported(file: Path, text: str) -> ModuleType:
    """The module of a program, written to ``file`` and imported under its name."""
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    sys.modules[file.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expression_found(file: Path, text: str, name: str) -> str:
    """The call that the search finds for ``name`` of a program."""
    target = agent_module("inputs.synthesis.target")
    return str(target.find_call(imported(file, text), name, target.SearchBudget()).expression)
