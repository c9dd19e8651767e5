"""Makes an interpreter for each drawn package, with the package, what it declares and what its files need: its users have all of it.

torch and what it requires are those of this interpreter, by links; everything else is installed for the package.
"""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.corpus.libraries import distributions, earlier, needed
from tests.corpus.releases import of_day, uploaded

INSTALL_S = 240
FOLDER = "environments"
# torchvision's own, of either name that its versions give it
_OF_EXTENSION = re.compile(r'if _load_library\("_C(?:_stable)?"\):')
IMPORTED_BY_TORCH = ("typing-extensions", "sympy")
# imports that are tried until none lacks anything more
MOST_ROUNDS = 8
# "The package `a` requires `b>=1,<2`, but `3.0` is installed" (uv 0.9)
DISAGREES = re.compile(r"The package `([^`]+)` requires `([\w.-]+)[^`]*`, but `[^`]+` is installed")
# what an import lacks, and what is said by one that finds another interface than it was written for
IMPORT_EACH = """
import importlib, importlib.util, json, sys
for name in sys.argv[1:]:
    kind, lacks, said = "", "", ""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as problem:
        kind, lacks = "lacks", problem.name or ""
        if "." in lacks and importlib.util.find_spec(lacks.partition(".")[0]):
            kind = "older"
    except ImportError as problem:
        if "cannot import name" in str(problem):
            kind, lacks = "older", problem.name or ""
    except (AttributeError, TypeError) as problem:
        kind, said = "older", str(problem)
    except (Exception, SystemExit):
        pass
    if kind:
        print(json.dumps({"kind": kind, "module": lacks.partition(".")[0], "said": said, "importing": name}))
"""
# says which modules cannot be found, and imports none
FIND_EACH = "import importlib.util, sys; print(*(n for n in sys.argv[1:] if not importlib.util.find_spec(n)))"


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
    # pip compiles what it installs; a sandboxed run would compile it again each time
    install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python), "--overrides", str(overrides)]
    try:
        _run([*install, f"{package}=={version}"])
    except NoEnvironment as problem:
        print(f"{package}: {problem}; its requirements are installed one by one", file=sys.stderr)
        _install_one_by_one(install, package, version, inside)
    _leave_out_cuda(inside)
    return python


def _leave_out_cuda(inside: Path) -> None:
    """torchvision and torchaudio of PyPI are built for CUDA: beside a torch for the CPU they get ``vision_operators.py``."""
    for library in [*(inside / "torchvision").glob("*.so"), *(inside / "torchaudio").rglob("*.so")]:
        library.unlink()
    extension = inside / "torchvision" / "extension.py"
    if extension.exists() and "vision_operators" not in (text := extension.read_text("utf-8")):
        shutil.copy(Path(__file__).parent / "vision_operators.py", extension.parent / "vision_operators.py")
        text = _OF_EXTENSION.sub("from .vision_operators import define\n\nif define():", text)
        # the file is the same as that of uv's cache, and of every environment made from it
        extension.unlink()
        extension.write_text(text, encoding="utf-8")


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

    Many libraries import what only an extra declares, what another library used to bring, or what nothing declares at all.
    """
    python = interpreter(package, folder)
    uv = shutil.which("uv")
    if uv is None or not python.exists():
        return
    inside = next((python.parent.parent / "lib").glob("python3*")) / "site-packages"
    overrides = python.parent.parent / "overrides.txt"
    install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python), "--overrides", str(overrides)]
    top = folder.joinpath(*files[0].relative_to(folder).parts[:2]) if files else folder
    by_files = needed(files, top)
    installed_as = list(_installed_as(files, inside))
    wanted = {"pytest", *_undeclared(_not_found(python, by_files), _declared_anywhere(package, inside))}
    tried: set[str] = set()
    for _ in range(MOST_ROUNDS):
        declared = _declared_anywhere(package, inside)
        for requirement in sorted(wanted - tried):
            # what only an import names is not built here: its set-up would run
            wheels = [] if requirement in declared.values() else ["--only-binary", ":all:"]
            try:
                _run([*install, *wheels, requirement])
            except NoEnvironment as problem:
                print(f"{package} without {requirement}: {problem}", file=sys.stderr)
        _leave_out_cuda(inside)
        if wanted <= tried:
            break
        tried |= wanted
        said = _said(python, [*by_files, *_imports(files), *installed_as])
        declared = _declared_anywhere(package, inside)
        lacking = {one["module"] for one in said if one["kind"] == "lacks"}
        wanted = {declared[name.lower()] for name in lacking if name.lower() in declared}
        must = {
            one["module"] for one in said if one["kind"] == "lacks" and one["importing"] in {*by_files, *installed_as}
        }
        wanted |= set(_undeclared(must, declared))
        wanted |= set(_earlier(said, inside, uploaded(package, top.name.rpartition("-")[2])))
    _agree(uv, install, python, package)


def _agree(uv: str, install: list[str], python: Path, package: str) -> None:
    """Find versions that agree for what disagrees: what was installed later may have brought another than an earlier library asks for."""
    group: set[str] = set()
    for _ in range(MOST_ROUNDS):
        command = [uv, "pip", "check", "--python", str(python)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
        found = {name for pair in DISAGREES.findall(done.stderr + done.stdout) for name in pair}
        if found <= group:
            return
        group |= found
        try:
            _run([*install, *sorted(group)])
        except NoEnvironment as problem:
            print(f"{package}: no versions of {', '.join(sorted(group))} agree: {problem}", file=sys.stderr)
            return


def _undeclared(modules: set[str], declared: dict[str, str]) -> Iterator[str]:
    """What brings ``modules``: what is declared, or known, or else the distribution of that name."""
    known = distributions()
    for name in modules:
        yield declared.get(name.lower()) or known.get(name) or name.replace("_", "-")


def _not_found(python: Path, modules: list[str]) -> set[str]:
    command = [str(python), "-c", FIND_EACH, *modules]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    return set(done.stdout.split())


def _earlier(said: list[dict[str, str]], inside: Path, day: str) -> Iterator[str]:
    for one in (one for one in said if one["kind"] == "older"):
        if one["said"]:
            yield from filter(None, [earlier("", "0.0", one["said"])])
        for found in _named(one["module"].lower(), inside):
            yield from filter(None, [of_day(found.name, found.version, day) or earlier(found.name, found.version, "")])


def _declared_anywhere(package: str, inside: Path) -> dict[str, str]:
    """By module name, what the installed distributions declare, extras included: those of ``package`` first."""
    found: dict[str, str] = {}
    own, others = list(_declared(package, inside, extras=True)), []
    for distribution in importlib.metadata.distributions(path=[str(inside)]):
        others += [text.partition(";")[0].strip() for text in distribution.requires or ()]
    for requirement in (*own, *others):
        found.setdefault(_module_name(_name_of(requirement)), _name_of(requirement))
    return found


def _said(python: Path, names: list[str]) -> list[dict[str, str]]:
    """What each import of ``names`` that fails says."""
    command = [str(python), "-c", IMPORT_EACH, *dict.fromkeys(names)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return []
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"kind"')]


def _named(module: str, inside: Path) -> list[importlib.metadata.Distribution]:
    """The distributions that bring ``module``, under its name or another."""
    distributions = importlib.metadata.distributions(path=[str(inside)])
    return [
        found
        for found in distributions
        if _module_name(found.name) == module or any(file.parts[0].lower() == module for file in found.files or ())
    ]


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
        # what a requirement asks for may be too old to be built here; what it imports is installed by its name
        for wanted in ([requirement], [_name_of(requirement)], ["--no-deps", requirement]):
            try:
                _run([*install, *wanted])
                break
            except NoEnvironment as problem:
                print(f"{package} without {' '.join(wanted)}: {problem}", file=sys.stderr)


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
    # pinned for the torch of a package's day, these would keep this one from being imported
    yield from (text for text in importlib.metadata.requires("torch") or () if _name_of(text) in IMPORTED_BY_TORCH)
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
