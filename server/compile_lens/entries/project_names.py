"""Finds what a dotted name of a file is in its project, by what stands in the sources: a class, a function or a value of its files.

Nothing here asks a run, which may say anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from compile_lens.agent.runtime.regular_file import is_file
from compile_lens.entries.module_classes import bases_of
from compile_lens.entries.scripts import does_something
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree, identifiers, kept_with_tree, parse

# folders of a project that its packages stand in
SOURCES = ("src", "lib", "python")
_MOST_FILES, _MOST_STEPS, _MOST_ANCESTORS = 100, 8, 30
# what is another name of something has none of its own here
_ASSIGNED = Query("(module (expression_statement (assignment left: (_) @name right: (_) @value)))")
_ALL_OF = Query("(import_from_statement module_name: (_) @of (wildcard_import))")
_CHAINS = Query("(attribute) @chain")


class ProjectName(Struct, frozen=True):
    """A thing of the project: the file that has it, and its name there. ``kind`` is ``class``, ``function``, or ``value`` for what a name
    at the top level, or an attribute of a class, stands for."""

    tree: SourceTree
    file: str
    name: str
    kind: str


class ProjectFiles:
    """The files of a project: ``file``, and those below ``root`` that names lead to. ``read`` gives their texts, None for no source."""

    def __init__(self, file: str, root: str, read: Callable[[str], str | None]) -> None:
        self.file = file
        self._root = Path(root) if root else None
        self._read = read
        self._trees: dict[Path, SourceTree | None] = {}

    def tree(self, path: Path) -> SourceTree | None:
        """The tree of a file; None for one that is no source, and after very many."""
        if path not in self._trees and is_file(path):
            text = self._read(str(path)) if len(self._trees) < _MOST_FILES else None
            self._trees[path] = parse(text) if text is not None else None
        return self._trees.get(path)

    def folders(self, file: Path) -> Iterator[Path]:
        """Where the modules may be that ``file`` imports: beside it, in the folders above it that are packages or below ``root``, and
        their folders for source."""
        folder, is_in = file.parent, True
        while is_in:
            yield folder
            yield from (folder / name for name in SOURCES)
            is_package = is_file(folder / "__init__.py")
            is_in = is_package or (
                self._root is not None and folder != self._root and folder.is_relative_to(self._root)
            )
            is_in = is_in and folder.parent != folder
            folder = folder.parent


class ProjectNames:
    """The names of the file whose text is ``tree``, at the place that ``files`` says; without them, nothing of other files is known."""

    def __init__(self, tree: SourceTree, files: ProjectFiles | None = None) -> None:
        self.tree = tree
        self._files = files
        self._file = files.file if files is not None else ""

    def find(self, dotted: str) -> ProjectName | None:
        """What ``dotted`` is: of the file, of what it imports, or of a module of the project by its full name."""
        parts = dotted.split(".")
        found = self._in_file(self.tree, self._file, parts, _MOST_STEPS)
        if found is None and self._files is not None and not self.binds(parts[0]) and len(parts) > 1:
            found = self._in_modules(self._file, dotted, _MOST_STEPS, is_imported=False)
        return found

    def binds(self, name: str) -> bool:
        """Whether the file itself says what ``name`` is."""
        known = (definition.qualified_name for definition in definitions(self.tree))
        return name in read_imports(self.tree).names or name in _assigned(self.tree) or name in known

    def of_libraries(self, dotted: str) -> str:
        """The full name of what is no part of the project; '' if the file gives the first name to something of its own."""
        root = dotted.partition(".")[0]
        if root in _assigned(self.tree) or any(d.qualified_name == root for d in definitions(self.tree)):
            return ""
        full = read_imports(self.tree).resolve(dotted) or dotted
        return "" if full.startswith(".") else full

    def says(self, full: str) -> bool:
        """Whether the file imports something by this full name, or reads it as an attribute of what it imports."""
        return full in read_imports(self.tree).names.values() or full in attribute_chains(self.tree)

    def takes_all_of(self, module: str) -> bool:
        """Whether the file has ``from module import *``."""
        return module in _stars(self.tree)

    def takes_unknown_names(self) -> bool:
        """Whether ``from … import *`` of something that is not torch's may give any name another meaning."""
        return any(module.partition(".")[0] != "torch" for module in _stars(self.tree))

    def lineage(self, cls: ProjectName) -> Iterator[ProjectName]:
        """A class and those of the project that it inherits from, as far as the sources say."""
        waiting = [cls]
        for each in waiting:
            yield each
            for base in bases_of(each.tree).get(each.name.rpartition(".")[2], ()):
                found = self._in_file(each.tree, each.file, base.split("."), _MOST_STEPS)
                if found is not None and found.kind == "class" and len(waiting) < _MOST_ANCESTORS:
                    waiting.append(found)

    def method(self, cls: ProjectName, name: str) -> ProjectName | None:
        """The method ``name`` of a class of the project, its own or an inherited one."""
        for each in self.lineage(cls):
            qualified = f"{each.name}.{name}"
            if any(d.qualified_name == qualified and d.kind == "function" for d in definitions(each.tree)):
                return ProjectName(each.tree, each.file, qualified, "function")
        return None

    def _in_file(self, tree: SourceTree, file: str, parts: list[str], steps: int) -> ProjectName | None:
        known = {definition.qualified_name: definition.kind for definition in definitions(tree)}
        for length in range(len(parts), 0, -1):
            name = ".".join(parts[:length])
            if known.get(name) not in ("class", "function"):
                continue
            found = ProjectName(tree, file, name, known[name])
            if length == len(parts):
                return found
            if known[name] == "function" or len(parts) - length > 1:
                return None
            return self.method(found, parts[-1]) or ProjectName(tree, file, ".".join(parts), "value")
        if parts[0] in _values(tree):
            return ProjectName(tree, file, ".".join(parts), "value")
        full = read_imports(tree).resolve(".".join(parts))
        if full:
            return self._in_modules(file, full, steps - 1)
        everything = (f"{module}.{'.'.join(parts)}" for module in _stars(tree))
        return next(filter(None, (self._in_modules(file, each, steps - 1) for each in everything)), None)

    def _in_modules(self, file: str, full: str, steps: int, is_imported: bool = True) -> ProjectName | None:
        """What the project has by the name ``full``, as seen from ``file``; not what running a module of another program would give."""
        if self._files is None or not file or steps <= 0:
            return None
        parts = full.lstrip(".").split(".")
        if any(part.startswith("__") or not part.isidentifier() for part in parts):
            return None
        level = len(full) - len(full.lstrip("."))
        above = Path(file).parents
        folders = [above[level - 1]] if 0 < level <= len(above) else [] if level else self._files.folders(Path(file))
        for folder in folders:
            for length in range(len(parts) - 1, 0 if not level else -1, -1):
                place = folder.joinpath(*parts[:length])
                for module in (place.with_suffix(".py"), place / "__init__.py") if length else (place / "__init__.py",):
                    tree = self._files.tree(module)
                    if tree is None or str(module) == file or (not is_imported and does_something(tree)):
                        continue
                    found = self._in_file(tree, str(module), parts[length:], steps)
                    if found is not None:
                        return found
        return None


@kept_with_tree
def _assigned(tree: SourceTree) -> frozenset[str]:
    """Names that are assigned at the top level, to whatever."""
    return frozenset(
        tree.node_text(name)
        for _, captured in _ASSIGNED.matches(tree.root)
        for name in identifiers(captured["name"][0])
    )


@kept_with_tree
def _values(tree: SourceTree) -> frozenset[str]:
    """Names that are assigned at the top level, and are no other name of something that can be called."""
    return frozenset(
        tree.node_text(name)
        for _, captured in _ASSIGNED.matches(tree.root)
        if captured["name"][0].type in ("identifier", "pattern_list", "tuple_pattern", "list_pattern")
        and captured["value"][0].type not in ("identifier", "attribute")
        for name in identifiers(captured["name"][0])
    )


@kept_with_tree
def _stars(tree: SourceTree) -> tuple[str, ...]:
    found = _ALL_OF.everywhere(tree).get("of", [])
    return tuple("".join(tree.node_text(node).split()) for node in found)


@kept_with_tree
def attribute_chains(tree: SourceTree) -> frozenset[str]:
    """The full names of what the file reads as attributes of what it imports."""
    imports = read_imports(tree)
    texts = {tree.node_text(node) for node in _CHAINS.everywhere(tree).get("chain", [])}
    return frozenset(filter(None, map(imports.resolve, texts)))
