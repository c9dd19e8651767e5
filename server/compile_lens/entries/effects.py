"""The names by which code of a file reaches files, processes, the network and other code, whatever the file calls them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import tree_sitter

from compile_lens.entries.exported_names import exported_names
from compile_lens.entries.given_names import as_python_reads, given_names, taken_names
from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import Query, SourceTree, kept_with_tree

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
        "open_code", "open_memmap", "DataSource", "export_chrome_trace", "export_stacks", "export_memory_timeline", "SummaryWriter",
        # to processes and to the network
        "Popen", "fork_exec", "multiprocessing", "signal", "pty", "webbrowser", "asyncio", "http", "ftplib", "smtplib", "httpx", "aiohttp",
        "create_connection", "TCPStore", "FileStore", "hub", "download_url_to_file", "ProcessPoolExecutor", "init_rpc", "push_to_hub",
        "SocketHandler", "DatagramHandler", "SysLogHandler", "SMTPHandler", "HTTPHandler", "NTEventLogHandler",
        # to any code
        "importlib", "import_module", "__import__", "builtins", "__builtins__", "ctypes", "cffi", "FunctionType", "faulthandler",
        "load_library", "load_inline", "__loader__", "__spec__", "__subclasses__", "exec_module", "load_module", "f_globals", "f_builtins",
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
_IMPORTED = Query(
    """
    (import_statement name: (dotted_name . (identifier) @module))
    (import_statement name: (aliased_import name: (dotted_name . (identifier) @module)))
    (import_from_statement module_name: (dotted_name . (identifier) @module))
    """
)
_ALL_OF = Query("(import_from_statement module_name: (dotted_name) @of (wildcard_import) @all)")


@kept_with_tree
def effect_names(tree: SourceTree) -> frozenset[str]:
    """Those that say so by themselves, and those by which the file calls them."""
    return with_given(_named_so(tree), [*given_names(tree), *taken_names(tree)])


@kept_with_tree
def taken_effect_names(tree: SourceTree) -> frozenset[str]:
    """Those of ``effect_names`` that a file gives to what only comes out of something with effects, which may be a number or a text."""
    return effect_names(tree) - _named_so(tree)


@kept_with_tree
def _named_so(tree: SourceTree) -> frozenset[str]:
    text = as_python_reads(tree.text)
    found = set(_SIDE_EFFECTS) | _modules(tree) | set(_SAYS_SO.findall(text))
    if _EXPORTS.search(text):
        found.add("export")
    for _, captured in _ALL_OF.matches(tree.root):
        found |= _all_of(tree, captured["of"][0], found)
    return with_given(found, given_names(tree))


def with_given(known: Iterable[str], given: Iterable[tuple[set[str], set[str]]]) -> frozenset[str]:
    """``known`` with the names that a file gives to what has one of them, and to that again."""
    found, given_of = set(known), dict[str, list[set[str]]]()
    for of, names in given:
        if _HARMLESS.isdisjoint(of | names):
            for each in of:
                given_of.setdefault(each, []).append(names)
    waiting = list(found)
    while waiting:
        for names in given_of.pop(waiting.pop(), ()):
            waiting += names - found
            found |= names
    return frozenset(found)


def _modules(tree: SourceTree) -> set[str]:
    """Those of Python that reach the world by more than a name, where the file imports them; all that it names where it cannot be read."""
    imported = {as_python_reads(tree.node_text(node)) for node in _IMPORTED.everywhere(tree).get("module", [])}
    for start, end in tree.unread:
        imported.update(_WORD.findall(as_python_reads(tree.source[start:end].decode("utf-8", "replace"))))
    return imported & _MODULES


def _all_of(tree: SourceTree, module: tree_sitter.Node, reaching: set[str]) -> frozenset[str]:
    """What ``import *`` binds of a module of the standard library that reaches the world; others are not looked at."""
    name = as_python_reads(tree.node_text(module))
    if name not in reaching or name not in sys.stdlib_module_names:
        return frozenset()
    return exported_names(name)
