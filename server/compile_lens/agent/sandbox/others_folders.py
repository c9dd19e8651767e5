"""Finds folders in which a run could write nothing, since they are below another user's, or are one, inside of what is covered (Linux).

A copy of a folder gets its owner and group. Where a user namespace has a name for the user and one group alone, the kernel makes no copy of
what belongs to others, and with it of nothing inside (``EOVERFLOW``). The folder at which a cover begins is not copied.
"""

from __future__ import annotations

import contextlib
import os

from .overlays import hold

OWNERS = ("/proc/self/uid_map", "/proc/self/gid_map")


def below_others(places: list[str]) -> dict[str, int]:
    """Those of ``places`` that need a cover of their own, the outermost first, each with a handle of what is there now.

    ``places`` are folders without links; each is covered, too, or is inside of one that is. Raises OSError.
    """
    if not _has_few_names():
        return {}
    found: dict[str, int] = {}
    for place in sorted(set(places)):
        around = [other for other in places if other != place and place.startswith(os.path.join(other, ""))]
        # the cover that a folder is in begins at the innermost one that is chosen
        begin = max((other for other in around if other in found), key=len, default=min(around, key=len, default=place))
        if any(map(_is_of_others, _from(begin, place))):
            found[place] = hold(place)
    return found


def _from(begin: str, place: str) -> list[str]:
    """The folders below ``begin`` on the way to ``place``, and that."""
    found = []
    while place != begin:
        found.append(place)
        place = os.path.dirname(place)
    return found


def _is_of_others(folder: str) -> bool:
    status = os.stat(folder)
    return (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid())


def _has_few_names() -> bool:
    """Whether the user namespace of this process knows one user or one group only (user_namespaces(7))."""
    for path in OWNERS:
        with contextlib.suppress(OSError, ValueError, IndexError), open(path, encoding="ascii") as table:
            if sum(int(line.split()[2]) for line in table) == 1:
                return True
    return False
