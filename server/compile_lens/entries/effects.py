"""The names by which code of a file reaches files, processes, the network and other code, whatever the file calls them."""

from __future__ import annotations

import importlib
import sys
import unicodedata
from collections.abc import Iterator

import tree_sitter

from compile_lens.syntax.tree import Query, SourceTree, identifiers, kept_with_tree

# a function that names one of these has effects outside the program and is never called with synthesized inputs
_SIDE_EFFECTS = frozenset(
    [
        "open", "os", "shutil", "subprocess", "socket", "requests", "urllib", "Path", "pathlib", "save", "load", "input",
        "exec", "eval", "system", "remove", "unlink", "rmtree", "sys", "argparse", "DataLoader", "optimizer", "wandb",
        "json", "pickle", "glob", "mkdir", "makedirs", "init_process_group",
        # other ways to files
        "posix", "FileIO", "tofile", "memmap", "savez", "savetxt", "mkstemp", "mktemp", "tempfile", "sqlite3", "FileHandler",
        "zipfile", "tarfile", "shelve", "dbm", "mmap",
        # to processes and to the network
        "Popen", "multiprocessing", "signal", "pty", "webbrowser", "asyncio", "http", "ftplib", "smtplib", "httpx", "aiohttp",
        "create_connection", "TCPStore", "FileStore", "hub", "download_url_to_file",
        # to any code
        "importlib", "import_module", "__import__", "builtins", "__builtins__", "ctypes", "cffi", "FunctionType", "faulthandler",
    ]
)  # fmt: skip
_BOUND = Query(
    """
    (import_statement (aliased_import name: (_) @of alias: (identifier) @name))
    (import_from_statement module_name: (_) @of name: (dotted_name (identifier) @name))
    (import_from_statement module_name: (_) @of name: (aliased_import name: (_) @of alias: (identifier) @name))
    (module (expression_statement (assignment left: (_) @name right: (_) @of)))
    (module (if_statement (block (expression_statement (assignment left: (_) @name right: (_) @of)))))
    (module (try_statement (block (expression_statement (assignment left: (_) @name right: (_) @of)))))
    """
)
_ALL_OF = Query("(import_from_statement module_name: (dotted_name) @of (wildcard_import) @all)")
# of a call or an item, the result is bound, and not what made it
_RESULTS = frozenset({"call", "subscript", "await", "comparison_operator", "string"})


@kept_with_tree
def effect_names(tree: SourceTree) -> frozenset[str]:
    """Those that say so by themselves, and those by which the file calls them."""
    bound: dict[str, set[str]] = {}
    for _, captured in _BOUND.matches(tree.root):
        of = {name for node in captured["of"] for name in _bound_names(tree, node)}
        for node in captured["name"]:
            for left in identifiers(node):
                for source in of:
                    bound.setdefault(source, set()).add(_as_python_reads(tree.node_text(left)))
    found = set(_SIDE_EFFECTS) | {
        name for _, captured in _ALL_OF.matches(tree.root) for name in _all_of(tree, captured["of"][0])
    }
    waiting = list(found)
    while waiting:
        for name in bound.get(waiting.pop(), set()) - found:
            found.add(name)
            waiting.append(name)
    return frozenset(found)


def _all_of(tree: SourceTree, module: tree_sitter.Node) -> frozenset[str]:
    """What ``import *`` binds of a module of the standard library that reaches the world; others are not imported here."""
    name = _as_python_reads(tree.node_text(module))
    if name not in _SIDE_EFFECTS or name not in sys.stdlib_module_names:
        return frozenset()
    try:
        found = importlib.import_module(name)
    except ImportError:  # not on this system, or no module
        return frozenset()
    return frozenset(getattr(found, "__all__", None) or (name for name in vars(found) if not name.startswith("_")))


def _bound_names(tree: SourceTree, node: tree_sitter.Node) -> Iterator[str]:
    """The names that what is bound consists of; all of them in what runs later."""
    if node.type in _RESULTS:
        return
    if node.type in ("identifier", "lambda"):
        yield from (_as_python_reads(tree.node_text(each)) for each in identifiers(node))
        return
    for child in node.named_children:
        yield from _bound_names(tree, child)


def _as_python_reads(name: str) -> str:
    """To Python, names that differ in the width or the style of their letters are one."""
    return unicodedata.normalize("NFKC", name)
