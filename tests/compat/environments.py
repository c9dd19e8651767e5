"""The Pythons of this machine, and a virtual environment with one torch for each that is tried."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# each with the oldest and the newest Python that it has builds for
TORCHES: dict[str, tuple[str, str]] = {
    "2.6": ("3.10", "3.13"),
    "2.8": ("3.10", "3.13"),
    "2.9": ("3.10", "3.14"),
    "2.10": ("3.10", "3.14"),
    "2.11": ("3.10", "3.14"),
    "2.12": ("3.10", "3.14"),
    "2.13": ("3.10", "3.14"),
    "newest": ("3.10", "3.14"),
}
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# what fixtures import besides torch
PACKAGES = ("numpy", "transformers==4.57.1")
ASK = """
import json, sys
try:
    import torch
    torch = str(torch.__version__)
except ImportError:
    torch = ""
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "torch": torch}))
"""


class CannotInstall(Exception):
    """No environment could be made; its text is the installer's last line."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python, with the version of its torch ('' without one)."""

    path: str
    python: str
    torch: str


def numbers(version: str) -> tuple[int, ...]:
    """``(2, 13)`` of ``2.13.0+cpu``. ``newest`` comes after all."""
    if version == "newest":
        return (sys.maxsize,)
    return tuple(int(part) for part in version.partition("+")[0].split(".")[:2])


def has_builds(torch: str, python: str) -> bool:
    """Whether this torch is published for this Python."""
    oldest, newest = TORCHES.get(torch, TORCHES["newest"])
    return numbers(oldest) <= numbers(python) <= numbers(newest)


def ask(path: str) -> Interpreter | None:
    """What an interpreter says of itself; None where it does not start."""
    try:
        said = subprocess.run([path, "-c", ASK], capture_output=True, text=True, timeout=300, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return Interpreter(path=path, **json.loads(said.splitlines()[-1]))


def find_python(version: str) -> str | None:
    """An interpreter of this version: on the search path, of pyenv, or one that uv has or gets."""
    return next((path for path in _candidates(version) if _is(path, version)), None)


def _is(path: str, version: str) -> bool:
    found = ask(path)
    return found is not None and numbers(found.python) == numbers(version)


def _candidates(version: str) -> Iterator[str]:
    if on_path := shutil.which(f"python{version}"):
        yield on_path
    for folder in sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*")):
        yield str(folder / "bin" / "python")
    if uv := shutil.which("uv"):
        subprocess.run([uv, "python", "install", "--quiet", version], capture_output=True, check=False)
        found = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            yield found.stdout.strip()


def make(folder: Path, python: str, torch: str) -> Interpreter:
    """A new environment with this torch. Raises CannotInstall."""
    wanted = ["torch" if torch == "newest" else f"torch=={torch}.*", *PACKAGES]
    inside = str(folder / "bin" / "python")
    if uv := shutil.which("uv"):
        _call([uv, "venv", "--quiet", "--python", python, str(folder)])
        _call([uv, "pip", "install", "--quiet", "--python", inside, *wanted])
    else:
        _call([python, "-m", "venv", str(folder)])
        _call([inside, "-m", "pip", "install", "--quiet", *wanted])
    made = ask(inside)
    if made is None or not made.torch:
        raise CannotInstall("torch cannot be imported there")
    return made


def remove(folder: Path) -> None:
    """Delete an environment: one takes up to 6 GB."""
    shutil.rmtree(folder, ignore_errors=True)


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise CannotInstall(said[-1] if said else f"exit code {done.returncode}")
