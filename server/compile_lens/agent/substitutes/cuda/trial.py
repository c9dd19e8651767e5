"""Tries the emulated CUDA device with canaries before a program relies on it: once for each torch on each machine, in forked children.

The result is remembered in a file. A child may crash in native code: what it was about to do is told first.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ... import OWN_FOLDER
from ...runtime import processes
from ...runtime.libraries import library_roots
from ...runtime.protocol import TRIAL_LIMIT_S
from ..notes import StandInNotes
from .native import EmulationUnsupported

if TYPE_CHECKING:  # they import torch, which a standby does when it can report what is wrong with it
    from .canaries import Canary, Observation

# a canary that crashes is left out, and the others are tried again in another child
MOST_CHILDREN = 4
LONGEST_REASON = 300
START = ""  # stands for the start of the emulation where abilities are named


@dataclass(frozen=True)
class TrialResult:
    """Why nothing is emulated ('' if it is), and what is left out of it: abilities as the canaries name them, with the reasons."""

    off: str = ""
    without: dict[str, str] = field(default_factory=dict)


UNTRIED = TrialResult()


def verdict(folder: str) -> TrialResult:
    """The verdict for this torch on this machine: remembered in ``folder``, or tried now. Only in a process that may be forked."""
    known = remembered(folder)
    if known is None:
        known, is_final = _try(time.monotonic() + TRIAL_LIMIT_S)
        if is_final:
            _remember(folder, known)
        _of_this_process[folder] = known
    return known


def remembered(folder: str) -> TrialResult | None:
    """What an earlier trial found; None where there was none."""
    if folder in _of_this_process:
        return _of_this_process[folder]
    try:
        with open(_path(folder), encoding="utf-8") as file:
            found = json.load(file)
        known = TrialResult(str(found["off"]), {str(what): str(why) for what, why in found["without"].items()})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    _of_this_process[folder] = known
    return known


_of_this_process: dict[str, TrialResult] = {}


def _remember(folder: str, found: TrialResult) -> None:
    path = _path(folder)
    aside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(aside, "w", encoding="utf-8") as file:
            json.dump({"off": found.off, "without": found.without}, file)
        os.replace(aside, path)
    except OSError:
        return  # tried again by the next standby


def _path(folder: str) -> str:
    return os.path.join(folder, f"emulation-{_key()}.json")


@functools.cache
def _key() -> str:
    """What a verdict depends on: torch and where it lies, Python, the machine, whether it has a driver, Triton, and this code."""
    import torch

    from ...runtime.gpu_presence import has_gpu

    parts: list[Any] = [torch.__version__, torch.version.git_version, torch.__file__, sys.version, platform.machine()]
    parts += [platform.node(), has_gpu(), _stamp(torch.__file__), _stamp(_triton_file())]
    code = hashlib.sha256(repr(parts).encode())
    here = os.path.dirname(__file__)
    for name in sorted(os.listdir(here)):
        if name.endswith(".py"):
            with open(os.path.join(here, name), "rb") as file:
                code.update(file.read())
    return code.hexdigest()[:16]


def _stamp(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _triton_file() -> str:
    import importlib.util

    found = importlib.util.find_spec("triton")
    return str(found.origin) if found is not None else ""


# -- the trial


def _try(deadline: float) -> tuple[TrialResult, bool]:
    """The verdict, and whether the next trial would come to the same: not where the time was up."""
    without: dict[str, str] = {}
    for _ in range(MOST_CHILDREN):
        begun, found, ending = _run_child(without, deadline)
        for ability, (needed, problem) in found.items():
            if problem and needed:
                return TrialResult(
                    f"{ability} failed in a trial with this torch ({problem})" if ability else problem
                ), True
            if problem:
                without[ability] = problem
        if ending == "":
            return TrialResult("", without), True
        if ending == "timeout":
            return TrialResult(f"a trial did not finish within {TRIAL_LIMIT_S:.0f} s"), False
        if begun is None or begun[1]:
            what = f"{begun[0]} in a trial" if begun is not None and begun[0] else "a trial"
            return TrialResult(f"{what} crashed with this torch ({ending})"), True
        without[begun[0]] = ending
    return TrialResult("each trial crashed with this torch"), True


Found = dict[str, tuple[bool, str]]


def _run_child(skipped: Mapping[str, str], deadline: float) -> tuple[tuple[str, bool] | None, Found, str]:
    """What was begun last and whether it is needed, what was found, and how the child ended: '' for well."""
    reading, writing = os.pipe()
    child = processes.fork()
    if child == 0:
        _be_child(writing, skipped)
    os.close(writing)
    text, in_time = _read_until(reading, deadline)
    os.close(reading)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    begun: tuple[str, bool] | None = None
    found: Found = {}
    for line in text.decode("utf-8", "replace").splitlines():
        try:
            ability, needed, problem = json.loads(line)
        except ValueError:
            continue  # it died while it wrote
        if problem is None:
            begun = (ability, needed)
        else:
            found[ability] = (needed, problem)
    if not in_time:
        return begun, found, "timeout"
    if os.WIFSIGNALED(status):
        return begun, found, f"signal {os.WTERMSIG(status)}"
    return begun, found, "" if status == 0 else f"exit code {os.WEXITSTATUS(status)}"


def _read_until(descriptor: int, deadline: float) -> tuple[bytes, bool]:
    """Everything up to the end, and True; what had come by ``deadline``, and False."""
    parts: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([descriptor], [], [], left)
        if ready:
            data = os.read(descriptor, 1 << 16)
            if not data:
                return b"".join(parts), True
            parts.append(data)
    return b"".join(parts), False


def _be_child(writing: int, skipped: Mapping[str, str]) -> None:
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # no GPU is touched, and none answers in place of the emulation
        for ability, needed, problem in _trial(skipped):
            os.write(writing, json.dumps([ability, needed, problem]).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def _trial(skipped: Mapping[str, str]) -> Iterator[tuple[str, bool, str | None]]:
    """(ability, whether it is needed, None), then the same with its problem, '' for none."""
    from . import canaries, install

    yield START, True, None
    references = {canary: _reference(canary) for canary in canaries.CANARIES}
    try:
        install.install(1, StandInNotes(OWN_FOLDER, library_roots()), skipped)
    except EmulationUnsupported as problem:
        yield START, True, str(problem)
        return
    except Exception as error:  # an unknown torch may raise anything
        yield START, True, f"the internals of this torch are not supported ({_words(error)})"
        return
    for canary, reference in references.items():
        if canary.ability in skipped or (canary.has_counterpart and reference is None):
            continue
        yield canary.ability, canary.needed, None
        try:
            observed = canaries.observe(canary, "cuda")
        except Exception as error:  # the same
            yield canary.ability, canary.needed, _words(error)
            continue
        differs = canaries.difference(reference, observed) if reference is not None else ""
        yield canary.ability, canary.needed, differs


def _reference(canary: Canary) -> Observation | None:
    """What it gives on the CPU; None where this torch cannot run it there, so that nothing is expected of the emulation, either."""
    from . import canaries

    if not canary.has_counterpart:
        return None
    try:
        return canaries.observe(canary, "cpu")
    except Exception:  # the same
        return None


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip().partition("\n")[0][:LONGEST_REASON]
