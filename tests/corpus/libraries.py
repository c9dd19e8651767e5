"""The libraries that a program needs although nothing declares them: who has the file has them.

Which distribution brings a module is data (``knowledge/data/libraries.json``); what it does not name is looked for under its own name, as a wheel.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from compile_lens.knowledge.libraries import LIBRARIES

# modules of the program that are read for what they import
MOST_MODULES = 200
# what the last version without an interface said of those before it, or says of itself
REMOVED_FROM_NUMPY_2 = re.compile(r"was removed in the NumPy 2\.0 release|module 'numpy' has no attribute")
REMOVED_FROM_NUMPY = re.compile(r"module 'numpy' has no attribute '(?:float|int|bool|object|str|complex|long|unicode)'")
GENERATED_BEFORE_PROTOBUF_4 = re.compile(r"Descriptors cannot be created directly")


def distributions() -> dict[str, str]:
    """The distribution that brings each well-known module."""
    known = json.loads(LIBRARIES.read_text("utf-8"))
    return {**{name: name.replace("_", "-") for name in known["by the same name"]}, **known["by another name"]}


def earlier(module: str, version: str, message: str) -> str:
    """A requirement of a version that still has what an import failed for: ``huggingface-hub<2``, ``torchdata<0.11``; or ''."""
    if REMOVED_FROM_NUMPY.search(message):
        return "numpy<1.24"
    if REMOVED_FROM_NUMPY_2.search(message):
        return "numpy<2"
    if GENERATED_BEFORE_PROTOBUF_4.search(message):
        return "protobuf<3.21"
    major, minor = [*version.split("."), "0"][:2]
    return f"{module}<{major}" if major > "0" else f"{module}<0.{minor}" if minor.isdigit() and minor > "0" else ""


def needed(files: list[Path], top: Path) -> list[str]:
    """The modules from elsewhere that ``files`` import, in their functions too, and those that the modules below ``top`` that they import
    import at once."""
    found: set[str] = set()
    waiting, read = list(files), set(files)
    while waiting:
        file = waiting.pop(0)
        for name, level in imports(file, in_functions=file in files):
            own = list(_own(file, name, level, top))
            for each in own:
                if each not in read and len(read) < MOST_MODULES:
                    read.add(each)
                    waiting.append(each)
            if not own and not level:
                found.add(name.partition(".")[0])
    return sorted(found - sys.stdlib_module_names)


def imports(file: Path, in_functions: bool = False) -> Iterator[tuple[str, int]]:
    """The module of each import that must succeed for ``file`` to be imported or run, or its functions to be called, and how many
    packages up it starts."""
    blocks = (ast.With, *((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While) if in_functions else ()))
    try:
        waiting: list[ast.stmt] = list(ast.parse(file.read_text("utf-8", errors="replace")).body)
    except (SyntaxError, ValueError):
        return
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "", node.level)
            # `from package import module`
            yield from ((f"{node.module or ''}.{alias.name}".strip("."), node.level) for alias in node.names)
        elif isinstance(node, ast.If):
            waiting[:0] = node.orelse if "TYPE_CHECKING" in ast.dump(node.test) else [*node.body, *node.orelse]
        elif isinstance(node, ast.Try) and not any(map(_is_for_imports, node.handlers)):
            waiting[:0] = [*node.body, *node.orelse, *node.finalbody]
        elif isinstance(node, blocks):
            waiting[:0] = node.body


def _is_for_imports(handler: ast.ExceptHandler) -> bool:
    names = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else {"Exception"}
    )
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def _own(file: Path, name: str, level: int, top: Path) -> Iterator[Path]:
    """The files below ``top`` that an import of ``name`` in ``file`` runs."""
    if level:
        starts = [file.parents[level - 1]]
    else:
        starts = [folder for folder in file.parents if folder.is_relative_to(top)]
        starts += [top / "src", top / "python"]
    for start in starts:
        place = start.joinpath(*name.split(".")) if name else start
        inside = [each for each in (place, *place.parents) if each.is_relative_to(start) and each != start]
        found = [each / "__init__.py" for each in inside] + [place.with_suffix(".py")]
        found = [each for each in found if each.is_file() and each.is_relative_to(top)]
        if found or (place != start and place.is_dir() and any(place.glob("*.py"))):
            # a folder without a file of its own name is a package, too
            yield from found or sorted(place.glob("*.py"))[:1]
            return
