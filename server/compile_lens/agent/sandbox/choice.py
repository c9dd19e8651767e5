"""Finds the kind of sandbox that this machine offers. Each is tried in a child process, because a sandbox cannot be left."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..runtime import processes
from ..runtime.left_folders import remove_folder
from . import landlock, namespaces, process_space
from .enter import LANDLOCK, OUTSIDE_PYTHON, OVERLAY, PYTHON, enter
from .policy import Policy

LONGEST_ERROR = 4000


@dataclass(frozen=True, slots=True)
class Choice:
    """The kind of sandbox that works, why it is not a stronger one, and whether it can have a process namespace."""

    kind: str
    reason: str = ""
    alone: bool = False


def choose(strongest: str, places: list[str]) -> Choice:
    """The strongest kind up to ``strongest`` that works here for a program whose folders are ``places``."""
    if sys.platform != "linux" or strongest == PYTHON:
        return Choice(PYTHON, "" if strongest == PYTHON else "no stronger sandbox exists on this platform")
    reason = ""
    if strongest == OVERLAY:
        if not _why_no_overlay(places, alone=True):
            return Choice(OVERLAY, alone=True)
        reason = _why_no_overlay(places, alone=False)
        if not reason:
            return Choice(OVERLAY)
    if landlock.abi():
        return Choice(LANDLOCK, reason)
    return Choice(PYTHON, f"{reason}; this kernel has no Landlock" if reason else "this kernel has no Landlock")


def in_force() -> dict[str, Any]:
    """``kind`` and ``reason`` of the ``Choice``, and ``open_ends``: what is not restricted, as noun phrases. Raises OSError."""
    chosen = choose(OVERLAY, [])
    if sys.platform == "linux":
        open_ends = _in_child(
            lambda policy: enter(policy, chosen.kind, [], lambda *_: None).unrestricted, alone=chosen.alone
        )
    else:
        open_ends = list(OUTSIDE_PYTHON)
    return {"kind": chosen.kind, "reason": chosen.reason, "open_ends": open_ends}


def _why_no_overlay(places: list[str], alone: bool) -> str:
    """Why the overlay sandbox does not work here; '' if it does."""

    def try_it(policy: Policy) -> None:
        namespaces.enter(policy, places, [])
        if alone:
            process_space.enter(names_threads=False)

    try:
        _in_child(try_it, alone)
        return ""
    except OSError as error:
        return f"{error}"


def _in_child(action: Callable[[Policy], object], alone: bool) -> Any:
    """The JSON value that ``action`` returns in a child process. Raises OSError with the message of what it raised."""
    # named like the folder of a run, so that the host deletes it if this process is killed now (temporary_folders.py)
    scratch = tempfile.mkdtemp(prefix=f"compile-lens-run-{os.getpid()}-")
    reading, writing = os.pipe()
    child = processes.fork()
    if child == 0:
        answer: dict[str, object] = {}
        try:
            policy = Policy(OVERLAY, os.path.realpath(scratch), (), (), False, False, 0, 1 << 20, 0, 0, alone)
            answer = {"is": action(policy)}
        except BaseException as error:  # passed on to the parent
            answer = {"error": f"{error}"[:LONGEST_ERROR] or type(error).__name__}
        finally:
            os.write(writing, json.dumps(answer).encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        answer_text = pipe.read()
    os.waitpid(child, 0)
    remove_folder(scratch)
    answered = json.loads(answer_text or b'{"error": "the trial process was killed"}')
    if "error" in answered:
        raise OSError(answered["error"])
    return answered["is"]
