"""Which kind of sandbox this machine offers: each is tried in a child process, since nobody leaves one again."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from . import landlock, namespaces
from .enter import LANDLOCK, OVERLAY, PYTHON, enter
from .policy import Policy
from .scratch import remove_folder

LONGEST = 4000


def choose(strongest: str) -> tuple[str, str]:
    """The strongest kind up to ``strongest`` that works here, and why no stronger one does."""
    if sys.platform != "linux" or strongest == PYTHON:
        return PYTHON, "" if strongest == PYTHON else "this system has no sandbox that Python can enter"
    reason = ""
    if strongest == OVERLAY:
        reason = _try_overlay()
        if not reason:
            return OVERLAY, ""
    if landlock.abi():
        return LANDLOCK, reason
    return PYTHON, f"{reason}; this kernel has no Landlock" if reason else "this kernel has no Landlock"


def in_force() -> dict[str, Any]:
    """``kind`` and ``reason`` as of ``choose``, and ``open_ends``: what it does not hold, a phrase each. Raises OSError."""
    kind, reason = choose(OVERLAY)
    if sys.platform == "linux":
        open_ends = _in_child(lambda policy: enter(policy, kind, [], lambda *_: None).open_ends)
    else:
        open_ends = ["native code", "programs that it starts"]
    return {"kind": kind, "reason": reason, "open_ends": open_ends}


def _try_overlay() -> str:
    """Why a view of one's own cannot be had; '' if it can."""
    try:
        return "" if _in_child(lambda policy: namespaces.enter(policy, [], []).copied) else "no folder can be copied"
    except OSError as error:
        return f"{error}"


def _in_child(action: Callable[[Policy], object]) -> Any:
    """What ``action`` returns in a child that is ended then, as JSON carries it. Raises OSError with the words of what it raised."""
    # named like a run's, so that the host deletes it if this process is killed now (workers/scratch.py)
    scratch = tempfile.mkdtemp(prefix=f"compile-lens-run-{os.getpid()}-")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer: dict[str, object] = {}
        try:
            policy = Policy(OVERLAY, os.path.realpath(scratch), (), (), False, False, 0, 1 << 20, 0, 0)
            answer = {"is": action(policy)}
        except BaseException as error:
            answer = {"error": f"{error}"[:LONGEST] or type(error).__name__}
        finally:
            os.write(writing, json.dumps(answer).encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    remove_folder(scratch)
    answered = json.loads(said or b'{"error": "it was killed"}')
    if "error" in answered:
        raise OSError(answered["error"])
    return answered["is"]
