"""Makes an interpreter for each drawn package, with the package and what it declares: its users have both.

torch and what it requires are those of this interpreter, by links; everything else is installed for the package.
"""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
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
    _link_torch(inside)
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


def _link_torch(inside: Path) -> None:
    """Link torch and what it requires, in a folder that comes after what is installed."""
    shared = inside / "shared"
    shared.mkdir()
    for name in _with_requirements("torch"):
        distribution = importlib.metadata.distribution(name)
        tops = {Path(file).parts[0] for file in distribution.files or () if ".." not in Path(file).parts}
        for top in sorted(tops - {"__pycache__"}):
            place = Path(str(distribution.locate_file(top)))
            if place.exists() and not (shared / top).exists():
                (shared / top).symlink_to(place)
    (inside / "shared.pth").write_text(f"{shared}\n", encoding="utf-8")


def _with_requirements(name: str) -> list[str]:
    """``name`` and what it requires, extras left out, as far as it is installed here."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        try:
            requirements = importlib.metadata.requires(each) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        found.append(each)
        waiting += [_name_of(text) for text in requirements if "extra" not in text.partition(";")[2]]
    return [*found, *(["numpy"] if "numpy" not in found and _is_here("numpy") else [])]


def _is_here(name: str) -> bool:
    return any(d.name == name for d in importlib.metadata.distributions())


def _name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def install_for(package: str, files: list[Path], folder: Path) -> None:
    """Install pytest, and what ``files`` import and the package declares for an extra: who works on such a file has them."""
    python = interpreter(package, folder)
    uv = shutil.which("uv")
    if uv is None or not python.exists():
        return
    inside = next((python.parent.parent / "lib").glob("python3*")) / "site-packages"
    of_extras = {_module_name(_name_of(text)): _name_of(text) for text in _declared(package, inside, extras=True)}
    of_extras["pytest"] = "pytest"
    imported = {"pytest", *(name for file in files for name in _imports(file))}
    for name in sorted(imported & of_extras.keys()):
        if not any((place / name).exists() or (place / f"{name}.py").exists() for place in (inside, inside / "shared")):
            overrides = python.parent.parent / "overrides.txt"
            try:
                _run([uv, "pip", "install", "--quiet", "--python", str(python), "--overrides", str(overrides), of_extras[name]])
            except NoEnvironment as problem:
                print(f"{package} without {of_extras[name]}: {problem}", file=sys.stderr)
    _leave_out_cuda(inside)


def _module_name(distribution: str) -> str:
    return re.sub(r"[-.]+", "_", distribution).lower()


def _imports(file: Path) -> set[str]:
    try:
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8", errors="replace"))))
    except SyntaxError:
        return set()
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0].lower() for name in names}


def _install_one_by_one(install: list[str], package: str, version: str, inside: Path) -> None:
    try:
        _run([*install, "--no-deps", f"{package}=={version}"])
    except NoEnvironment as problem:
        # its files are analyzed from its source distribution in any case
        print(f"{package}: {problem}", file=sys.stderr)
    for requirement in _declared(package, inside):
        for wanted in (requirement, _name_of(requirement)):
            try:
                _run([*install, wanted])
                break
            except NoEnvironment as problem:
                print(f"{package} without {wanted}: {problem}", file=sys.stderr)


def _declared(package: str, inside: Path, extras: bool = False) -> Iterator[str]:
    """What an installed package requires, extras left out; or for ``extras`` alone."""
    for found in importlib.metadata.distributions(path=[str(inside)]):
        if re.sub(r"[-_.]+", "-", found.name).lower() == re.sub(r"[-_.]+", "-", package).lower():
            for text in found.requires or ():
                requirement, _, marker = text.partition(";")
                if ("extra" in marker) is extras:
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
