"""Makes an interpreter for each drawn package, with the package and what it declares: its users have both.

torch, and what this interpreter has beside it, comes from this interpreter by a ``.pth`` file; what the package declares comes first.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

INSTALL_S = 240
# one that is not installed although another needs it is said, and nothing more: users have such environments, too
FOLDER = "environments"


class NoEnvironment(Exception):
    """An environment cannot be made; its message says why."""


def interpreter(package: str, folder: Path) -> Path:
    """The interpreter of ``package`` below ``folder``, whether it has been made or not."""
    return folder / FOLDER / package / "bin" / "python"


def interpreter_of(file: Path, folder: Path) -> Path | None:
    """The interpreter for ``file`` of a package that was unpacked below ``folder``; None where there is none."""
    if not file.is_relative_to(folder):
        return None
    found = interpreter(file.relative_to(folder).parts[0], folder)
    return found if found.exists() else None


def make(package: str, version: str, folder: Path) -> Path:
    """The interpreter for ``package``, made if it is not there. Raises NoEnvironment."""
    python = interpreter(package, folder)
    if python.exists():
        return python
    uv = shutil.which("uv")
    if uv is None:
        raise NoEnvironment("uv is not installed: `pip install uv`")
    place = python.parent.parent
    _run([uv, "venv", "--quiet", "--python", sys.executable, str(place)])
    inside = next((place / "lib").glob("python3*")) / "site-packages"
    (inside / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    overrides = place / "overrides.txt"
    overrides.write_text("\n".join(_overrides()) + "\n", encoding="utf-8")
    install = [uv, "pip", "install", "--quiet", "--python", str(python), "--overrides", str(overrides)]
    try:
        _run([*install, f"{package}=={version}"])
    except NoEnvironment as problem:
        print(f"{package}: {problem}; its requirements are installed one by one", file=sys.stderr)
        _install_one_by_one(install, package, version, inside)
    _leave_out_cuda(inside)
    return python


def _leave_out_cuda(inside: Path) -> None:
    """torchvision and torchaudio of PyPI are built for CUDA: without their operators they can be imported beside a torch for the CPU."""
    for library in [*(inside / "torchvision").glob("*.so"), *(inside / "torchaudio").rglob("*.so")]:
        library.unlink()
    init = inside / "torchvision" / "__init__.py"
    if init.exists():
        lines = init.read_text("utf-8").splitlines(keepends=True)
        init.write_text("".join(line for line in lines if line.strip() != "_meta_registrations,"), encoding="utf-8")


def _install_one_by_one(install: list[str], package: str, version: str, inside: Path) -> None:
    try:
        _run([*install, "--no-deps", f"{package}=={version}"])
    except NoEnvironment as problem:
        # its files are analyzed from its source distribution in any case
        print(f"{package}: {problem}", file=sys.stderr)
    for requirement in _declared(package, inside):
        for wanted in (requirement, re.split(r"[^\w.-]", requirement, maxsplit=1)[0]):
            try:
                _run([*install, wanted])
                break
            except NoEnvironment as problem:
                print(f"{package} without {wanted}: {problem}", file=sys.stderr)


def _declared(package: str, inside: Path) -> Iterator[str]:
    """What an installed package requires, extras left out."""
    for found in importlib.metadata.distributions(path=[str(inside)]):
        if re.sub(r"[-_.]+", "-", found.name).lower() == re.sub(r"[-_.]+", "-", package).lower():
            for text in found.requires or ():
                requirement, _, marker = text.partition(";")
                if "extra" not in marker:
                    yield requirement.strip()


def _overrides() -> Iterator[str]:
    """torch is there already, and nothing brings another; its companions fit it."""
    minor = int(importlib.metadata.version("torch").split(".")[1])
    yield "torch; python_version < '0'"
    yield "triton; python_version < '0'"
    yield f"torchvision==0.{minor + 15}.*"
    yield f"torchaudio==2.{min(minor, 11)}.*"


def _run(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        subprocess.run(
            command, check=True, timeout=INSTALL_S, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
        )
    except subprocess.CalledProcessError as problem:
        lines = problem.stderr.decode(errors="replace").strip().splitlines()
        raise NoEnvironment(next((line.strip() for line in lines if line.strip()), "it failed")) from None
    except (subprocess.TimeoutExpired, OSError) as problem:
        raise NoEnvironment(type(problem).__name__) from None
