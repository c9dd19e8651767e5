"""Finds the programs, headers and libraries of compilers that the user's variables name in repositories which brought them.

Tools that set variables as one enters a folder leave those of one workspace in an editor that another is opened with: what is compiled
ahead of runs, outside of the sandbox, uses none of any.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from compile_lens.agent.runtime.compiler_variables import named_places
from compile_lens.workers.tracked_environment import is_brought


def brought_compilers(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Their paths; for a folder in which a repository tracks something, that of the folder."""
    return tuple(place for place in named_places(environment) if is_brought(Path(place)))
