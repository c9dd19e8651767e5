"""Starts an interpreter so that it imports nothing from the folder where it is started, which is often a workspace.

An entry of ``PYTHONPATH`` that is relative, or empty as in ``PYTHONPATH=$PYTHONPATH:/opt/tools``, means that folder. The program itself
gets what is left out here, with its run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "PYTHONPATH"


def left_out(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The folders, as absolute paths, that ``fixed`` leaves out."""
    return tuple(str(Path(entry).absolute()) for entry in _entries(environment) if not Path(entry).is_absolute())


def fixed(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set for an interpreter that is to import from absolute folders alone."""
    entries = _entries(environment)
    kept = [entry for entry in entries if Path(entry).is_absolute()]
    return {VARIABLE: os.pathsep.join(kept)} if kept != entries else {}


def whole(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set for a program, which imports from all of them."""
    if not left_out(environment):
        return {}
    return {VARIABLE: os.pathsep.join(str(Path(entry).absolute()) for entry in _entries(environment))}


def _entries(environment: Mapping[str, str]) -> list[str]:
    text = environment.get(VARIABLE)
    return text.split(os.pathsep) if text else []
