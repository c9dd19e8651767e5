"""The home directory that the system knows of the user, whatever a variable says.

Tools that set variables as one enters a folder may set ``HOME`` to a place in its repository. Who decides about trust asks here.

Server and agent use it: it needs the standard library alone.
"""

from __future__ import annotations

import os
import sys


def own_home() -> str:
    """The home directory, with links resolved: that of the system's list of users.

    For a user who is not in it (containers), and on Windows, the variable's.
    """
    if sys.platform != "win32":
        import pwd

        try:
            told = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            told = ""
        if os.path.isabs(told):
            return os.path.realpath(told)
    return os.path.realpath(os.path.expanduser("~"))


def repositories_of_others(place: str) -> list[str]:
    """The folders with a ``.git`` around ``place``, links resolved, the innermost first.

    Not those that hold the user's home: what is there, as in a repository of one's settings, is the user's own.
    """
    home, folder = own_home(), os.path.realpath(place)
    found = []
    while True:
        if os.path.lexists(os.path.join(folder, ".git")) and not _is_below(home, folder):
            found.append(folder)
        around = os.path.dirname(folder)
        if around == folder:
            return found
        folder = around


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
