"""The names by which code of a file reaches files, processes, the network and other code, whatever the file calls them."""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import product

import tree_sitter

from compile_lens.entries.exported_names import exported_names
from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import Query, SourceTree, identifiers, kept_with_tree

# a function that names one of these has effects outside the program and is never called with synthesized inputs
_SIDE_EFFECTS = frozenset(
    [
        "open", "os", "shutil", "subprocess", "socket", "requests", "urllib", "Path", "pathlib", "save", "load", "input",
        "exec", "eval", "system", "remove", "unlink", "rmtree", "sys", "argparse", "DataLoader", "optimizer", "wandb",
        "json", "pickle", "glob", "mkdir", "makedirs", "init_process_group",
        # other ways to files
        "posix", "FileIO", "tofile", "memmap", "savez", "savetxt", "mkstemp", "mktemp", "tempfile", "sqlite3", "FileHandler",
        "zipfile", "tarfile", "shelve", "dbm", "mmap", "savez_compressed", "fromfile", "from_file", "genfromtxt", "loadtxt", "savefig",
        "dump", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler", "basicConfig", "fileConfig", "dictConfig",
        "export_chrome_trace", "export_stacks", "export_memory_timeline", "SummaryWriter",
        # to processes and to the network
        "Popen", "multiprocessing", "signal", "pty", "webbrowser", "asyncio", "http", "ftplib", "smtplib", "httpx", "aiohttp",
        "create_connection", "TCPStore", "FileStore", "hub", "download_url_to_file", "ProcessPoolExecutor", "init_rpc", "push_to_hub",
        "SocketHandler", "DatagramHandler", "SysLogHandler", "SMTPHandler", "HTTPHandler", "NTEventLogHandler",
        # to any code
        "importlib", "import_module", "__import__", "builtins", "__builtins__", "ctypes", "cffi", "FunctionType", "faulthandler",
        "load_library", "load_inline",
    ]
)  # fmt: skip
# modules of Python that reach it, too; their names may be those of variables in a file that does not import them
_MODULES = frozenset(
    [
        # files
        "aifc", "bz2", "codecs", "compileall", "configparser", "filecmp", "fileinput", "gzip", "imghdr", "linecache", "lzma", "mailbox",
        "mailcap", "marshal", "mimetypes", "netrc", "plistlib", "pstats", "py_compile", "pyclbr", "readline", "sndhdr", "sunau", "tabnanny",
        "tokenize", "wave", "zipapp",
        # the machine and its terminals
        "crypt", "curses", "fcntl", "getpass", "grp", "msilib", "msvcrt", "nis", "nt", "ossaudiodev", "pipes", "pwd", "resource",
        "optparse", "spwd", "syslog", "termios", "tkinter", "tty", "turtle", "winreg", "winsound",
        # the network
        "asynchat", "asyncore", "cgi", "imaplib", "nntplib", "poplib", "select", "selectors", "smtpd", "socketserver", "ssl",
        "telnetlib", "wsgiref", "xmlrpc",
        # any code
        "bdb", "cProfile", "cmd", "code", "distutils", "doctest", "ensurepip", "idlelib", "imp", "lib2to3", "modulefinder", "pdb",
        "pkgutil", "profile", "pydoc", "runpy", "site", "timeit", "trace", "venv", "zipimport",
    ]
)  # fmt: skip
# of a module of those, what only tells the time
_HARMLESS = frozenset({"default_timer"})
# `export` is the one that writes a file where it is that of a module of this name, and no compiler's (`torch.export`)
_EXPORTS = pattern(r"\bonnx\s*\.\s*export\b|(?m:^)[ \t]*(?:import|from)[ \t][^\n#]{0,400}\bonnx\b")
_WORD = pattern(r"\w+")
# a verb with a kind of file, or with the network
_SAYS_SO = pattern(
    r"\b(?:(?:read|write|save|load|dump|export)_(?:csv|tsv|json|yaml|toml|xml|excel|parquet|feather|orc|hdf5?|pickle|sql|stata|onnx|png|"
    r"jpe?g|gif|svg|pdf|images?|videos?|audio|wav|files?|pretrained)|to_(?:csv|excel|parquet|feather|orc|hdf5?|pickle|sql|stata|file|disk|onnx)|"
    r"im(?:read|write|save)|(?:down|up)load_\w+|\w+_(?:down|up)load)\b"
)
_IMPORTED_AS = Query(
    """
    (import_statement (aliased_import name: (_) @of alias: (identifier) @name))
    (import_from_statement module_name: (_) @of name: (dotted_name (identifier) @name))
    (import_from_statement module_name: (_) @of name: (aliased_import name: (_) @of alias: (identifier) @name))
    """
)
_BOUND = Query(
    """
    (assignment left: (_) @name right: (_) @of)
    (augmented_assignment left: (_) @name right: (_) @of)
    (named_expression name: (_) @name value: (_) @of)
    (for_statement left: (_) @name right: [(identifier) (list) (tuple) (set) (dictionary) (parenthesized_expression)] @of)
    (with_item value: (as_pattern (_) @of alias: (_) @name))
    (with_item value: (parenthesized_expression (as_pattern (_) @of alias: (_) @name)))
    """
)
_FUNCTIONS = Query("[(function_definition) (lambda)] @function")
_IMPORTED = Query(
    """
    (import_statement name: (dotted_name . (identifier) @module))
    (import_statement name: (aliased_import name: (dotted_name . (identifier) @module)))
    (import_from_statement module_name: (dotted_name . (identifier) @module))
    """
)
_ALL_OF = Query("(import_from_statement module_name: (dotted_name) @of (wildcard_import) @all)")
# of a call or an item, the result is bound, and not what made it
_RESULTS = frozenset({"call", "subscript", "await", "comparison_operator", "string"})


@kept_with_tree
def effect_names(tree: SourceTree) -> frozenset[str]:
    """Those that say so by themselves, and those by which the file calls them."""
    text = _as_python_reads(tree.text)
    found = set(_SIDE_EFFECTS) | _modules(tree) | set(_SAYS_SO.findall(text))
    if _EXPORTS.search(text):
        found.add("export")
    for _, captured in _ALL_OF.matches(tree.root):
        found |= _all_of(tree, captured["of"][0], found)
    bound: dict[str, set[str]] = {}
    for of, name in _bindings(tree):
        bound.setdefault(of, set()).add(name)
    waiting = list(found)
    while waiting:
        for name in bound.get(waiting.pop(), set()) - found:
            found.add(name)
            waiting.append(name)
    return frozenset(found)


def _modules(tree: SourceTree) -> set[str]:
    """Those of Python that reach the world by more than a name, where the file imports them; all that it names where it cannot be read."""
    imported = {_as_python_reads(tree.node_text(node)) for node in _IMPORTED.everywhere(tree).get("module", [])}
    for start, end in tree.unread:
        imported.update(_WORD.findall(_as_python_reads(tree.source[start:end].decode("utf-8", "replace"))))
    return imported & _MODULES


def _bindings(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """A name that something consists of, and one that the file gives it: by an import, or outside of functions."""
    functions = _Stretches(tree)
    for query in (_IMPORTED_AS, _BOUND):
        for _, captured in query.matches(tree.root):
            if query is _BOUND and functions.have(captured["name"][0].start_byte):
                continue
            of = {name for node in captured["of"] for name in _bound_names(tree, node)}
            names = {_as_python_reads(tree.node_text(left)) for node in captured["name"] for left in identifiers(node)}
            if _HARMLESS.isdisjoint(of | names):
                yield from product(of, names)


class _Stretches:
    """Where functions are: what is bound in one is its own."""

    def __init__(self, tree: SourceTree) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        nodes = _FUNCTIONS.everywhere(tree).get("function", [])
        for start, end in sorted((node.start_byte, node.end_byte) for node in nodes):
            if not self._ends or start >= self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)

    def have(self, offset: int) -> bool:
        """Whether a function has this place."""
        before = bisect_right(self._starts, offset) - 1
        return before >= 0 and offset < self._ends[before]


def _all_of(tree: SourceTree, module: tree_sitter.Node, reaching: set[str]) -> frozenset[str]:
    """What ``import *`` binds of a module of the standard library that reaches the world; others are not looked at."""
    name = _as_python_reads(tree.node_text(module))
    if name not in reaching or name not in sys.stdlib_module_names:
        return frozenset()
    return exported_names(name)


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
