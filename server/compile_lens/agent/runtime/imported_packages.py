"""Lists what a run imported from installed packages, and decides whether the next one may start in a process that has imported it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

from ..inputs.importing.missing_imports import MissingImports
from ..substitutes.cuda.usage import names_gpu
from .libraries import library_roots
from .protocol import Packages, PackagesImported, RunCommand, Substitution
from .regular_file import read_regular

# a module takes one to three milliseconds; for fewer, nothing is worth a difference to a plain run
FEWEST_MODULES = 60
# torch decides by its options what its modules contain; the agent is no package of the user's
NOT_THESE = frozenset({"torch", "triton", "_compile_lens_agent", "__main__"})
# When it is imported, the packages that it contains can be, too (``sys.path``), which a program could notice.
SETUPTOOLS = frozenset({"setuptools", "distutils", "pkg_resources"})
IN_SETUPTOOLS = os.path.join("", "setuptools", "_vendor", "")
# of all files of a program together, which may name any
MOST_BYTES = 16_000_000
# a program with one of these words may set up what an import, or torch's first compilation, depends on, or look at what is imported
SETS_UP = re.compile(
    r"\b(?:environ|putenv|unsetenv|dotenv|meta_path|path_hooks|set_default_\w+|set_start_method|addaudithook|sys\.(?:modules|path)|"
    r"cxx|vec_isa_ok|mkldnn|register_(?:decomposition|replacement|graph_pattern|lowering_pattern))\b"
)


def packages_of_run(known: frozenset[str], file: str) -> PackagesImported | None:
    """The modules of installed packages that were imported since ``known`` were all, and the user's own files among the others.

    Without modules where they are too few; None where something stood in for a module that is not installed.
    """
    if any(isinstance(finder, MissingImports) for finder in sys.meta_path):
        return None
    roots = library_roots()
    modules, own_files = [], {file}
    for name, module in list(sys.modules.items()):
        if name in known or name.partition(".")[0] in NOT_THESE | SETUPTOOLS:
            continue
        spec = getattr(module, "__spec__", None)
        origin = getattr(spec, "origin", None)
        if not isinstance(origin, str) or origin in ("built-in", "frozen") or getattr(spec, "name", None) != name:
            continue  # a namespace package; or another name of a module, which comes with what gives it
        if IN_SETUPTOOLS in origin:
            continue
        if origin.startswith(roots):
            modules.append(name)
        else:
            own_files.add(origin)
    if len(modules) < FEWEST_MODULES:
        modules.clear()
    return PackagesImported(Packages(tuple(modules), tuple(sorted(own_files))))


def are_packages(modules: Iterable[str]) -> bool:
    """Whether ``packages_of_run`` may have listed ``modules``: a program can say what it likes."""
    return all(
        all(part.isidentifier() for part in parts) and parts[0] not in NOT_THESE and parts[-1] != "__main__"
        for parts in (module.split(".") for module in modules)
    )


def why_not_loaded(command: RunCommand) -> str:
    """Why ``command`` must import its packages itself; '' if it may find them imported."""
    wanted, spec = command.packages, command.sandbox
    if wanted is None or spec is None or command.search is not None or command.preview is not None:
        return "nothing is known of its imports"
    if spec.gpu:
        return "it may use the GPU, and a process whose imports have looked for one cannot be forked"
    if command.stand_in is Substitution.AUTO and names_gpu(command):
        return "its imports may ask for the emulated GPU"
    if any(map(_sets_up, _texts(command, wanted.own_files))):
        return "it sets up what imports depend on"
    names = {module.partition(".")[0] for module in wanted.modules}
    return "a file of the user's has the name of a package" if _are_shadowed(names, command) else ""


def _sets_up(text: str | None) -> bool:
    return text is None or SETS_UP.search(text) is not None


def _texts(command: RunCommand, own_files: Iterable[str]) -> Iterable[str | None]:
    """The program's own files; None for what is no file, and where they are too large."""
    if command.text is not None:
        yield command.text
    left = MOST_BYTES
    for path in {command.file, *own_files}:
        if path == command.file and command.text is not None:
            continue
        try:
            data = read_regular(path, left)
        except (OSError, ValueError):  # a name may hold anything
            yield None
            return
        left -= len(data)
        yield data.decode("utf-8", "replace")


def _are_shadowed(names: set[str], command: RunCommand) -> bool:
    """Whether a folder that the program may import from, above its file too, has something of one of the ``names``."""
    entries = command.env.get("PYTHONPATH", "").split(os.pathsep)
    # what this process imports from itself is installed
    folders = {command.cwd, *(entry for entry in entries if entry and entry not in sys.path)}
    folder = os.path.dirname(os.path.abspath(command.file))
    while folder not in folders:
        folders.add(folder)
        folder = os.path.dirname(folder)
    roots = {os.path.normpath(root) for root in library_roots()}
    return any(
        not names.isdisjoint(entry.partition(".")[0] for entry in _listed(folder))
        for folder in folders
        if os.path.normpath(folder) not in roots
    )


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
