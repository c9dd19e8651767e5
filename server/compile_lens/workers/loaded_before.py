"""Variables by which the loader of libraries and Python load code before any line of a program: into what runs outside of the sandbox.

Tools that set variables as one enters a folder have such from its repository. What it brought is left out there, and the program gets
the variables whole, with its run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from compile_lens.late_pattern import pattern

# ld.so(8), dyld(1), and Python's command line and environment
NAMES = pattern(
    r"^(?:LD_(?:LIBRARY_PATH|PRELOAD|AUDIT)|DYLD_\w*(?:PATH|LIBRARIES)|PYTHON(?:HOME|PYCACHEPREFIX|USERBASE|PLATLIBDIR))$"
)
# the loader separates these by blanks, too
WITH_BLANKS = ("LD_PRELOAD",)


def without(environment: Mapping[str, str], is_left_out: Callable[[Path], bool]) -> dict[str, str]:
    """What to set in the place of such variables: only of those that name what ``is_left_out``. To all, an empty one is none.

    Only absolute paths are asked for: relative ones are those of the folder where something is started.
    """
    found = {}
    for name, value in environment.items():
        if NAMES.search(name):
            entries = (value.replace(" ", os.pathsep) if name in WITH_BLANKS else value).split(os.pathsep)
            kept = [entry for entry in entries if not ((place := Path(entry)).is_absolute() and is_left_out(place))]
            if kept != entries:
                found[name] = os.pathsep.join(kept)
    return found
