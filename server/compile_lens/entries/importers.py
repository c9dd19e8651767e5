"""Finds tests, scripts and examples in documentation that import a file and use one of its targets."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compile_lens.agent.runtime.entry_plans import (
    DocumentedExample,
    EntryPlan,
    ImportingScript,
    ImportingTest,
    UsingScript,
    UsingTest,
)
from compile_lens.entries.entry import Entry, EntryKind
from compile_lens.entries.scripts import does_something
from compile_lens.entries.targets import Target, literal_calls
from compile_lens.entries.tensor_code import names_in
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import Definition, definitions
from compile_lens.syntax.imports import Imports, read_imports
from compile_lens.syntax.tree import Query, SourceTree, kept_with_tree

MAX_TESTS = 3
MAX_SCRIPTS = 2
_NAMES = Query("(identifier) @name")
_ATTRIBUTES = Query("(attribute attribute: (identifier) @name)")
NAMES_COMPILER = pattern(r"\bcompile\b")


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file of the workspace: its absolute path and its tree."""

    path: str
    tree: SourceTree


def find_importers(
    file: str, root: str, others: Sequence[WorkspaceFile], targets: Sequence[Target]
) -> tuple[Entry, ...]:
    """Tests first, then scripts, that import ``file`` and use a target; of each, those that use the first one before others,
    and tests that call a target themselves.

    Paths are shown relative to ``root``.
    """
    wanted = {name for target in targets for name in (target.name.partition(".")[0],)}
    main = targets[0].name.partition(".")[0] if targets else ""
    tests: list[tuple[tuple[bool, bool], Entry]] = []
    scripts: list[tuple[tuple[bool, bool], Entry]] = []
    for other in others:
        imported = imported_names(other, file)
        if not imported or other.path == file:
            continue
        path = os.path.relpath(other.path, root)
        if _is_test_file(other.path):
            for definition, hit in _tests(other.tree, imported, wanted):
                node = definition.qualified_name.replace(".", "::")
                test = Entry(
                    EntryKind.TEST, f"{path}::{node}", f"a test that uses `{hit}`", 0, test_plan(other, node, targets)
                )
                body = "\n".join(other.tree.lines[definition.def_line : definition.last_line])
                # where a helper or a fixture names it, that makes it
                is_made = re.search(rf"\b{re.escape(hit)}\b(?!\s*\()", body) is None
                tests.append(((hit != main, not is_made), test))
        elif does_something(other.tree):
            used = {imported[name] for name in _all_names(other.tree) if imported.get(name) in wanted}
            hit = main if main in used else next(iter(sorted(used)), "")
            if hit:
                script = Entry(EntryKind.FILE, path, f"a script that uses `{hit}`", 0, script_plan(other, targets))
                scripts.append(((hit != main, False), script))
    return (*_best(tests, MAX_TESTS), *_best(scripts, MAX_SCRIPTS))


def _best(found: list[tuple[tuple[bool, bool], Entry]], most: int) -> list[Entry]:
    return [entry for _, entry in sorted(found, key=lambda each: each[0])[:most]]


def test_plan(other: WorkspaceFile, node: str, targets: Sequence[Target]) -> EntryPlan:
    """How the test ``node`` of ``other`` is run: as it is where it or the file compiles something, else for its calls of ``targets``."""
    if _compiles(other, targets):
        return ImportingTest(f"{other.path}::{node}")
    return UsingTest(f"{other.path}::{node}", tuple(target.plan for target in targets))


def script_plan(other: WorkspaceFile, targets: Sequence[Target]) -> EntryPlan:
    """How the script ``other`` is run: as it is where it or the file compiles something, else for its calls of ``targets``."""
    if _compiles(other, targets):
        return ImportingScript(other.path)
    return UsingScript(other.path, tuple(target.plan for target in targets))


def _compiles(other: WorkspaceFile, targets: Sequence[Target]) -> bool:
    return not targets or any(target.is_region for target in targets) or _names_compiler(other.tree)


@kept_with_tree
def _names_compiler(tree: SourceTree) -> bool:
    return NAMES_COMPILER.search(tree.text) is not None


def arguments_elsewhere(others: Sequence[WorkspaceFile], file: str, tree: SourceTree) -> dict[str, dict[str, str]]:
    """Constructor arguments of the classes of ``file``, from calls in ``others``: from one with literals only, if there is one."""
    parameters = {
        d.qualified_name.rpartition(".")[0]: [p.name for p in d.parameters][1:]
        for d in definitions(tree)
        if d.name == "__init__"
    }
    found: dict[str, dict[str, str]] = {}
    using = [other for other in others if imported_names(other, file)]
    for is_partial in (False, True):
        for other in using:
            for name, given in literal_calls(other.tree, parameters, is_partial).items():
                found.setdefault(name, given)
    return found


def imported_names(other: WorkspaceFile, file: str) -> dict[str, str]:
    """Local names in ``other`` that refer to names of ``file``; a name of the whole module maps to ``*``."""
    found: dict[str, str] = {}
    imports = read_imports(other.tree)
    for local, full in imports.names.items():
        module, _, name = full.rpartition(".")
        if module and _is_module(_absolute(module, other), file):
            found[local] = name
        elif _is_module(full, file) or (full.startswith(".") and _is_module(_absolute(full, other), file)):
            found[local] = "*"
        elif module and _is_package_of(_absolute(module, other), file):
            found[local] = name
    for local in _whole_modules(imports, file):
        found[local] = "*"
    if found and "*" in found.values():
        found |= {attribute: attribute for attribute in _attributes(other.tree)}
    return found


def _whole_modules(imports: Imports, file: str) -> Iterator[str]:
    for local in imports.modules:
        if _is_module(imports.names[local], file):
            yield local


def _absolute(module: str, other: WorkspaceFile) -> str:
    """A relative module of ``other`` as a dotted path from the root; an absolute one unchanged."""
    if not module.startswith("."):
        return module
    stripped = module.lstrip(".")
    folder = Path(other.path).parent
    for _ in range(len(module) - len(stripped) - 1):
        folder = folder.parent
    return ".".join([*folder.parts[1:], *([stripped] if stripped else [])])


def _is_module(module: str, file: str) -> bool:
    """Whether a dotted module may be ``file``: the path of the file ends with it."""
    parts = [part for part in module.split(".") if part]
    path = Path(file).with_suffix("")
    own = path.parent.parts if path.name == "__init__" else path.parts
    return bool(parts) and list(own[-len(parts) :]) == parts


def _is_package_of(module: str, file: str) -> bool:
    """Whether a dotted module is a package above ``file``, which may re-export its names."""
    parts = [part for part in module.split(".") if part]
    folders = Path(file).parent.parts
    return bool(parts) and any(
        list(folders[start : start + len(parts)]) == parts for start in range(len(folders) - len(parts) + 1)
    )


def _is_test_file(path: str) -> bool:
    name = Path(path).name
    return name.startswith("test_") or name.endswith("_test.py")


def _tests(tree: SourceTree, imported: Mapping[str, str], wanted: set[str]) -> Iterator[tuple[Definition, str]]:
    """Test functions that use a wanted name, in their body or in a fixture, helper or class that they name."""
    known = {d.qualified_name: d for d in definitions(tree) if d.kind in ("function", "class")}
    direct = {
        name: next((imported[word] for word in names_in(tree, d) if imported.get(word) in wanted), "")
        for name, d in known.items()
    }
    for name, definition in known.items():
        method = definition.qualified_name.rpartition(".")
        is_function = definition.kind == "function"
        is_test = is_function and definition.name.startswith("test") and (not method[0] or method[0].startswith("Test"))
        if not is_test or "<locals>" in name:
            continue
        hit = direct[name] or next(
            (direct[word] for word in names_in(tree, definition) if direct.get(word) and word != name), ""
        )
        if hit:
            yield definition, hit


def _all_names(tree: SourceTree) -> Iterator[str]:
    for node in _NAMES.everywhere(tree).get("name", []):
        yield tree.node_text(node)


def _attributes(tree: SourceTree) -> set[str]:
    return {tree.node_text(n) for n in _ATTRIBUTES.everywhere(tree).get("name", [])}


EXAMPLE = "example:"
# that an example makes of one class, and that are looked for
MOST_OBJECTS = 20


def find_examples(file: str, documented: Sequence[WorkspaceFile], targets: Sequence[Target]) -> Iterator[Entry]:
    """The first example that imports the outermost class of ``file``, makes an object of it and calls that, as an entry; or else the first
    one that makes one. The outermost function of a file without modules is called itself."""
    if not targets or targets[0].is_region:
        return
    target = targets[0]
    owner, _, method = target.name.partition(".")
    # a class that is no module may be made by a method of its own: `Grid.of(…)`
    used = re.compile(rf"\b{re.escape(owner)}{'[.(]' if method else '[(]'}")
    found = [e for e in documented if owner in imported_names(e, file) and used.search(e.tree.text)]
    example = next((each for each in found if _calls_object(each.tree.text, used.pattern)), next(iter(found), None))
    if example is not None:
        page = Path(example.path).name
        plan = DocumentedExample(example.tree.text, example.path, target.compile_line or target.line)
        yield Entry(EntryKind.EXAMPLE, f"{EXAMPLE}{page}", f"an example in {page}", 0, plan)


def _calls_object(text: str, making: str) -> bool:
    """Whether ``text`` calls what it has got from ``making``, a pattern, by the name that it gives it: `net = Net(8)`, `net.fit(x)`."""
    made = itertools.islice(re.finditer(rf"^[ \t]*(\w+) *=[^=\n]*{making}", text, re.M), MOST_OBJECTS)
    # each pattern ends soon after a name: a page may be long
    return any(re.search(rf"\b{found[1]}(?:\.\w+){{0,3}}\(", text) for found in made)
