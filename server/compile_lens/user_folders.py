"""Where a user's own things are. Never in the current folder or in a repository, which may be somebody else's: what they allowed would be
what it says.

A relative ``XDG_STATE_HOME`` or ``HOME`` would lead into the one, which the specification says to ignore, and only newer versions of
platformdirs do; an absolute one that is set as one enters a folder, into the other.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

from compile_lens.agent.runtime.own_home import own_home, repositories_of_others

NAME = "compile-lens"


def state_folder() -> Path:
    """Where what the user has chosen is kept."""
    usual = Path(".local", "state")
    place = _own(platformdirs.user_state_dir(NAME, appauthor=False), usual)
    return Path(own_home()) / usual / NAME if repositories_of_others(str(place)) else place


def cache_folder() -> Path:
    """Where what can be made again is kept."""
    return _own(platformdirs.user_cache_dir(NAME, appauthor=False), Path(".cache"))


def _own(told: str, usual: Path) -> Path:
    place = Path(told)
    return place if place.is_absolute() else _home() / usual / NAME


def _home() -> Path:
    """The home directory, where the variable that says so is of no use."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - raises nothing
    if home.is_absolute() or sys.platform == "win32":
        return home.absolute()
    import pwd

    return Path(pwd.getpwuid(os.getuid()).pw_dir)
