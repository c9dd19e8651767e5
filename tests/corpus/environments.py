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
FOLDER = "environments"
# what users of older libraries have although nothing declares it
FORMERLY_THERE = {"pkg_resources": "setuptools<81", "requests": "requests", "six": "six"}
# imports that are tried until none lacks anything more
MOST_ROUNDS = 6
IMPORT_EACH = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as problem:
        print(f"lacks:{problem.name}")
    except ImportError as problem:
        if "cannot import name" in str(problem) and problem.name:
            print(f"older:{problem.name}")
    except (Exception, SystemExit):
        pass
"""


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
    """Install pytest, and what ``files`` lack when they are imported: who works on such a file has it.

    Many libraries import what only an extra declares, or what another library used to bring.
    """
    python = interpreter(package, folder)
    uv = shutil.which("uv")
    if uv is None or not python.exists():
        return
    inside = next((python.parent.parent / "lib").glob("python3*")) / "site-packages"
    overrides = python.parent.parent / "overrides.txt"
    install = [uv, "pip", "install", "--quiet", "--python", str(python), "--overrides", str(overrides)]
    lacking = {"pytest"}
    tried: set[str] = set()
    for _ in range(MOST_ROUNDS):
        known = {**FORMERLY_THERE, **_declared_anywhere(package, inside), "pytest": "pytest"}
        wanted = [known[name] for name in sorted((lacking & known.keys()) - tried)]
        wanted += [name for name in sorted(lacking - tried) if "<" in name]
        for requirement in wanted:
            try:
                _run([*install, requirement])
            except NoEnvironment as problem:
                print(f"{package} without {requirement}: {problem}", file=sys.stderr)
        if lacking <= tried:
            break
        tried |= lacking
        _leave_out_cuda(inside)
        lacking = _lacking(python, inside, [*_imports(files), *_installed_as(files, inside)])
    _leave_out_cuda(inside)


def _declared_anywhere(package: str, inside: Path) -> dict[str, str]:
    """By module name, what the installed distributions declare, extras included: those of ``package`` first."""
    found: dict[str, str] = {}
    own, others = list(_declared(package, inside, extras=True)), []
    for distribution in importlib.metadata.distributions(path=[str(inside)]):
        others += [text.partition(";")[0].strip() for text in distribution.requires or ()]
    for requirement in (*own, *others):
        found.setdefault(_module_name(_name_of(requirement)), _name_of(requirement))
    return found


def _lacking(python: Path, inside: Path, names: list[str]) -> set[str]:
    """The modules that importing ``names`` lacks, and earlier versions of what has another interface today: ``huggingface-hub<2``."""
    command = [str(python), "-c", IMPORT_EACH, *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return set()
    said = [line.partition(":") for line in done.stdout.splitlines()]
    found = {name.partition(".")[0].lower() for kind, _, name in said if kind == "lacks"}
    for library in {name.partition(".")[0].lower() for kind, _, name in said if kind == "older"}:
        found |= {f"{d.name}<{major}" for d in _named(library, inside) if (major := d.version.partition(".")[0]) > "0"}
    return found


def _named(module: str, inside: Path) -> list[importlib.metadata.Distribution]:
    distributions = importlib.metadata.distributions(path=[str(inside)])
    return [found for found in distributions if _module_name(found.name) == module]


def _installed_as(files: list[Path], inside: Path) -> Iterator[str]:
    """The module name of each file that is part of what is installed."""
    for file in files:
        for count in range(len(file.parts) - 1, 1, -1):
            path = inside.joinpath(*file.parts[-count:])
            if path.exists():
                yield ".".join(path.relative_to(inside).with_suffix("").parts)
                break


def _module_name(distribution: str) -> str:
    return re.sub(r"[-.]+", "_", distribution).lower()


def _imports(files: list[Path]) -> Iterator[str]:
    for file in files:
        try:
            nodes = list(ast.walk(ast.parse(file.read_text("utf-8", errors="replace"))))
        except SyntaxError:
            continue
        yield from sorted(alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)
        yield from sorted(n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module and not n.level)


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
    # what is as large as torch, and no part of what is analyzed
    for large in ("triton", "tensorflow", "jax", "jaxlib"):
        yield f"{large}; python_version < '0'"
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
