"""The rooms and what they must not import (ARCHITECTURE.md): read from the source, so that a lazy import counts too."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "server" / "compile_lens"
# what both sides load: the messages between server and agent
MESSAGES = ("protocol", "entry_plans", "entry_protocol", "search_protocol", "preview_protocol", "environment_facts")
PROTOCOL = {"pygls", "lsprotocol"}
TORCH = {"torch", "triton"}
TREE_SITTER = {"tree_sitter", "tree_sitter_python"}
OWN_LSP = {"compile_lens.lsp"}
# the official SDK, which one room imports
MCP = {"mcp", "mcp_types", "anyio"}
OWN_MCP = {"compile_lens.mcp"}
FORBIDDEN = {
    "trace": PROTOCOL | TORCH | TREE_SITTER | OWN_LSP,
    "syntax": PROTOCOL | TORCH | OWN_LSP,
    "analysis": PROTOCOL | TORCH | OWN_LSP,
    "entries": PROTOCOL | TORCH | OWN_LSP,
    "knowledge": PROTOCOL | TORCH | OWN_LSP,
    "workers": PROTOCOL | TORCH | OWN_LSP,
    "repro": PROTOCOL | TORCH | OWN_LSP,
    "fixes": PROTOCOL | TORCH | OWN_LSP,
    "documents": PROTOCOL | TORCH | OWN_LSP,
    "settings": PROTOCOL | TORCH | OWN_LSP,
    "formats": PROTOCOL | TORCH | OWN_LSP,
    "diff": PROTOCOL | TORCH | OWN_LSP,
    "stages": PROTOCOL | TORCH | TREE_SITTER | OWN_LSP,
    "state": PROTOCOL | TORCH | OWN_LSP,
    "pipeline": PROTOCOL | TORCH | OWN_LSP,
    "lsp": TORCH | MCP | OWN_MCP,
    "mcp": PROTOCOL | TORCH | OWN_LSP,
    "cli": PROTOCOL | TORCH | MCP,
    "assistants": PROTOCOL | TORCH | MCP | OWN_LSP | OWN_MCP,
    "pytest_plugin": PROTOCOL | TORCH | OWN_LSP,
}


@functools.cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Every imported module of a file, with its line; a relative import begins with a dot."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")


def within(module: str, names: set[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


@pytest.mark.parametrize("room", sorted(FORBIDDEN))
def test_a_room_imports_nothing_that_it_must_not(room: str) -> None:
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {module}"
        for file in (PACKAGE / room).rglob("*.py")
        for line, module in imports(file)
        if within(module, FORBIDDEN[room])
    ]
    assert not wrong


# from the doors down; a room imports what stands below it (ARCHITECTURE.md has the same order)
FLOORS = [
    "lsp",
    "mcp",
    "pytest_plugin",
    "cli",
    "assistants",
    "repro",
    "fixes",
    "pipeline",
    "state",
    "documents",
    "settings",
    "formats",
    "diff",
    "stages",
    "analysis",
    "knowledge",
    "entries",
    "workers",
    "trace",
    "syntax",
]


def test_rooms_import_only_rooms_below_them() -> None:
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {module}"
        for floor, room in enumerate(FLOORS)
        for file in (PACKAGE / room).rglob("*.py")
        for line, module in imports(file)
        if within(module, {f"compile_lens.{above}" for above in FLOORS[:floor]})
        and file.name not in ("serve.py", "mcp.py")
    ]
    assert not wrong


def test_the_map_lists_every_room_in_this_order() -> None:
    page = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `(\w+)/` \|", page.partition("### Rooms of `agent/`")[0], re.MULTILINE)
    assert rooms == [*FLOORS, "agent"]
    of_agent = re.findall(r"^\| `(\w+)/` \|", page.partition("### Rooms of `agent/`")[2], re.MULTILINE)
    folders = {folder.name for folder in (PACKAGE / "agent").iterdir() if (folder / "__init__.py").exists()}
    assert set(of_agent) == folders
    assert {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()} == set(rooms)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_each_file_that_a_page_for_developers_names_exists(page: str) -> None:
    """Names with capitals stand for others: ``cli/VERB.py``."""
    root = PACKAGE.parents[1]
    named = set(re.findall(r"`([a-z0-9_/.-]+\.(?:py|md|json|ts|txt))`", (root / page).read_text(encoding="utf-8")))
    assert len(named) > 20
    folders = [
        root / name for name in ("server", "tests", "benchmarks", "docs", "vscode-client/src", "vscode-client/scripts")
    ]
    there = [f"/{file.relative_to(root)}" for folder in folders for file in folder.rglob("*.*")]
    there += [f"/{file.relative_to(root)}" for file in (*root.glob("*.*"), *(root / "vscode-client").glob("*.*"))]
    assert not [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in there)]


@pytest.mark.parametrize(("verb", "room"), [("serve.py", OWN_LSP), ("mcp.py", OWN_MCP)])
def test_only_one_verb_leads_from_the_terminal_to_each_protocol(verb: str, room: set[str]) -> None:
    users = {
        file.name for file in (PACKAGE / "cli").rglob("*.py") for _, module in imports(file) if within(module, room)
    }
    assert users <= {verb}


def test_only_the_room_of_the_protocol_imports_its_sdk() -> None:
    users = {
        file.relative_to(PACKAGE).parts[0]
        for file in PACKAGE.rglob("*.py")
        for _, module in imports(file)
        if within(module, MCP)
    }
    assert users == {"mcp"}


def test_the_agent_imports_the_standard_library_torch_and_itself() -> None:
    allowed = set(sys.stdlib_module_names) | TORCH
    wrong = [
        f"{file.name}:{line}: {module}"
        for file in (PACKAGE / "agent").rglob("*.py")
        for line, module in imports(file)
        if not module.startswith(".") and module.partition(".")[0] not in allowed
    ]
    assert not wrong


def test_nothing_imports_the_agent_but_the_protocol() -> None:
    # and how files and texts of a workspace and errors of TorchScript are read, what a program has left is deleted, names were removed,
    # where home is, and which variables a compiler heeds
    others = ("message", "left_folders", "regular_file", "long_fstrings", "torchscript_errors", "moved_names")
    others += ("own_home", "compiler_variables")
    protocol = {f"compile_lens.agent.runtime.{name}" for name in (*MESSAGES, *others)}
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in PACKAGE.rglob("*.py")
        for line, module in imports(file)
        if within(module, {"compile_lens.agent"}) and module not in protocol
    ]
    assert not wrong


def test_the_root_of_the_agent_holds_its_entry_alone() -> None:
    assert {file.name for file in (PACKAGE / "agent").glob("*.py")} == {"boot.py", "__init__.py"}


# rooms of the agent that still name private parts of torch themselves; none may be added
NAME_PRIVATE_PARTS: set[str] = set()


def private_names(file: Path) -> Iterator[tuple[int, str]]:
    """Private parts of torch that a file imports or reads from ``torch``, with the line."""
    for node in ast.walk(tree_of(file)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        for name in names:
            root, *parts = name.split(".")
            if root == "torch" and any(part.startswith("_") and not part.startswith("__") for part in parts):
                yield node.lineno, name


def test_private_names_of_torch_are_rows_of_one_room() -> None:
    rooms = {folder.name for folder in (PACKAGE / "agent").iterdir() if folder.is_dir()}
    rooms -= NAME_PRIVATE_PARTS | {"torch_internals", "__pycache__"}
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {name}"
        for room in sorted(rooms)
        for file in (PACKAGE / "agent" / room).rglob("*.py")
        for line, name in private_names(file)
    ]
    assert not wrong


# private names of others than torch that the agent reads: the object in front, and why there is no public way
PRIVATE_NAMES_OF_OTHERS = {
    "_exit": "os: ends a forked child without the exit functions of its parent",
    "_getframe": "sys: the documented way to a caller's frame",
    "_shutdown": "threading: a program's end, as the interpreter does it",
    "_run_exitfuncs": "atexit: the same",
    "_make_invoke_excepthook": "threading: exceptions that end threads, while the program's `excepthook` stays its own",
    "_clear": "atexit: a forked child forgets the exit functions of its parent",
    "_BaseAutoModelClass": "transformers: the base of the classes whose loading is substituted",
    "_data": "os.environ: what it is about to be, without the call that would announce another change",
    "_actions": "argparse: which arguments a program requires",
    "_mutually_exclusive_groups": "argparse: the same",
    "_group_actions": "argparse: the same",
    "_SubParsersAction": "argparse: the same",
    "_model_mapping": "transformers: the class for a configuration",
    "_name_or_path": "transformers: where a configuration is from",
}


def own_attributes(tree: ast.AST) -> set[str]:
    """Functions and classes that a module defines, and attributes that it sets on ``self``, ``cls`` or in a class."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            assigned = (item for item in node.body if isinstance(item, ast.Assign | ast.AnnAssign))
            for item in assigned if isinstance(node, ast.ClassDef) else ():
                targets = item.targets if isinstance(item, ast.Assign) else [item.target]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return found | {node.attr for node in stored if ast.unparse(node.value) in {"self", "cls"}}


def test_the_agent_reads_private_attributes_of_its_own_alone() -> None:
    agent = PACKAGE / "agent"
    trees = {file: tree_of(file) for file in agent.rglob("*.py")}
    known = set(PRIVATE_NAMES_OF_OTHERS).union(*map(own_attributes, trees.values()))
    private = [
        (file, node)
        for file, tree in trees.items()
        if file.parent.name != "torch_internals"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    ]
    assert not [
        f"{file.relative_to(agent)}:{node.lineno}: {node.attr}" for file, node in private if node.attr not in known
    ]
    used = {node.attr for _, node in private}
    assert set(PRIVATE_NAMES_OF_OTHERS) <= used, "a name in the list is not read any more"


def imported_modules(tree: ast.AST, module: str, is_package: bool, modules: set[str]) -> set[str]:
    """The modules of ours that a module imports, lazily too; not those that only its annotations need."""
    found: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
            base = ".".join([*(parents if node.level else []), *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
        found |= {name for name in names if name in modules}
    return found - {module}


# rooms of the agent whose modules import those of rooms before them, never of one that comes later (ARCHITECTURE.md)
ORDERS = {
    "agent/inputs": ("importing", "calling", "synthesis", "scripts", "recording"),
    "agent/inputs/synthesis": ("terms", "source", "errors", "project", "changes", "guessing", "trying", "making"),
}


@pytest.mark.parametrize("around", sorted(ORDERS))
def test_rooms_in_an_order_import_those_before_them(around: str) -> None:
    order = ORDERS[around]
    later = {room: order[number + 1 :] for number, room in enumerate(order)}
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {module}"
        for room in order
        for file in (PACKAGE / around / room).rglob("*.py")
        for line, module in imports(file)
        if module.lstrip(".").partition(".")[0] in later[room]
        and len(module) - len(module.lstrip(".")) == len(file.relative_to(PACKAGE / around).parts)
    ]
    assert not wrong


def import_circles() -> list[list[str]]:
    """Groups of modules that import one another, over the whole package."""
    files = {}
    for file in PACKAGE.rglob("*.py"):
        parts = ["compile_lens", *file.relative_to(PACKAGE).with_suffix("").parts]
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    imports_of = {
        name: imported_modules(tree_of(file), name, file.name == "__init__.py", set(files))
        for name, file in files.items()
    }

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        pending = list(imports_of[start])
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += imports_of[name]
        return found

    from_each = {name: reached(name) for name in files}
    in_circles = {name for name in files if name in from_each[name]}
    groups = {
        tuple(sorted(other for other in in_circles & from_each[name] if name in from_each[other]))
        for name in in_circles
    }
    return sorted(map(list, groups))


def test_no_modules_import_one_another_in_a_circle() -> None:
    assert import_circles() == []


def test_the_protocol_needs_the_standard_library_alone() -> None:
    files = [PACKAGE / "agent" / "runtime" / f"{name}.py" for name in (*MESSAGES, "message")]
    modules = {module for file in files for _, module in imports(file)}
    own = {module for module in modules if module.startswith(".")}
    assert own <= {".", ".message", ".entry_plans", ".preview_protocol", ".search_protocol"}
    assert {module.partition(".")[0] for module in modules - own} <= set(sys.stdlib_module_names)


def test_no_test_module_imports_torch() -> None:
    """Each worker imports each of them when it collects the tests."""
    modules = [file for file in Path(__file__).parent.rglob("test_*.py") if "programs" not in file.parts]
    assert len(modules) > 150
    importing = {
        file.name
        for file in modules
        for node in tree_of(file).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if within(name, TORCH | {"transformers", "numpy"})
    }
    assert not importing
