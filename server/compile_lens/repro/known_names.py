"""Which names a script may have: those of the source that is copied into it, and of libraries what computes or only makes an object.

What a run says is never enough for a name of a library: its package must be one that the user's files import.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from keyword import iskeyword

from compile_lens.entries.exported_names import exported_names
from compile_lens.entries.makers import is_torch_class, is_value_of_libraries
from compile_lens.late_pattern import pattern
from compile_lens.repro.own_files import OwnFiles
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.foreign_texts import parse_module
from compile_lens.syntax.tree import Query, parse

_PART = pattern(r"[A-Za-z_]\w*")
_CLASS = pattern(r"^_*[A-Z]\w*")
# types of Python whose objects are data, and what a class body has
_TYPES = frozenset(
    ["bool", "bytes", "classmethod", "complex", "dict", "float", "frozenset", "int", "list", "object", "property", "range", "set", "slice",
     "staticmethod", "str", "tuple"]
)  # fmt: skip
# of modules of the standard library, classes whose objects are data
PLAIN_CLASSES = frozenset(
    [
        "argparse.Namespace", "types.SimpleNamespace", "types.MappingProxyType", "functools.partial", "uuid.UUID", "decimal.Decimal",
        "fractions.Fraction", *(f"collections.{name}" for name in ("OrderedDict", "defaultdict", "deque", "Counter", "ChainMap", "UserDict",
                                                                   "UserList")),
        *(f"datetime.{name}" for name in ("date", "datetime", "time", "timedelta", "timezone")),
        *(f"pathlib.{name}" for name in ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")),
        *(f"pathlib._local.{name}" for name in ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")),
    ]
)  # fmt: skip
# classes of Python's that make code, run it, or start something, by whatever chain of modules of a library they are reached
_RUN_CODE = frozenset(
    [
        *(name for name in dir(types) if name.endswith("Type") and name != "MappingProxyType"),
        "Thread", "Timer", "Process", "Pool", "ThreadPool", "Executor", "ThreadPoolExecutor", "ProcessPoolExecutor", "Popen", "Pdb", "Bdb",
        "Tracer", "Trace", "Profile", "Interpreter", "InteractiveInterpreter", "InteractiveConsole", "TestProgram", "TestLoader",
        "TextTestRunner", "FunctionTestCase", "DocTestRunner", "DocTestFinder", "IMAP4", "IMAP4_SSL", "IMAP4_stream", "FTP", "FTP_TLS",
        "SMTP", "SMTP_SSL", "POP3", "POP3_SSL", "NNTP", "Telnet", "HTTPConnection", "HTTPSConnection", "HTTPServer",
        "ThreadingHTTPServer", "TCPServer", "UDPServer", "SSLContext", "SSLSocket", "ServerProxy", "SimpleXMLRPCServer", "CDLL", "PyDLL",
        "LibraryLoader", "Unpickler", "Shelf", "DbfilenameShelf", "ZipFile", "PyZipFile", "TarFile", "GzipFile", "BZ2File", "LZMAFile",
        "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "SpooledTemporaryFile", "BaseManager", "SyncManager",
        "SourceFileLoader", "SourcelessFileLoader", "ExtensionFileLoader", "ModuleSpec", "Finalize", "Repl", "Cmd", "Environment",
        "EnvBuilder", "Quitter", "Debug",
    ]
)  # fmt: skip
# what makes functions that look into any object, and call what they find
_LOOKS_INTO_OBJECTS = ("methodcaller", "attrgetter", "itemgetter", "call")
# of modules of the standard library, what computes, and types that only say what something is
_OF_PYTHON = frozenset(
    [
        *(f"math.{name}" for name in dir(math) if not name.startswith("_")),
        *(f"operator.{name}" for name in dir(operator) if not name.startswith("_") and name not in _LOOKS_INTO_OBJECTS),
        *(f"numbers.{name}" for name in ("Number", "Complex", "Real", "Rational", "Integral")),
        *(f"enum.{name}" for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum", "auto")),
        *(f"typing.{name}" for name in typing.__all__ if name[0].isupper()),
        "dataclasses.MISSING",
    ]
)  # fmt: skip
_OF_TORCH = pattern(r"torch\.(?:nn\.functional|nn\.init|special|linalg|fft)\.(?!(?:torch|np|importlib|grad)$)[a-z]\w*")
# where the operators are that torch's public modules have by other names
_OPERATOR_OF_TORCH = pattern(
    r"torch\._C\._(?:nn|fft|linalg|special|sparse|nested|VariableFunctions(?:Class)?)\.[a-z]\w*"
)
# functions of torch that have the names of Python's modules
_LIKE_MODULES = frozenset(["select", "trace", "chunk"])
# more modules of torch with layers
_CLASS_IN_TORCH = pattern(
    r"torch\.(?:nn\.(?:utils\.(?:parametrize|parametrizations|weight_norm|spectral_norm)|attention\.(?:flex_attention|bias))"
    r"|ao\.nn(?:\.(?:quantized|intrinsic|qat|quantizable|sparse))*(?:\.dynamic|\.reference)?(?:\.modules)?(?:\.[a-z]+)?)\.[A-Z]\w*"
)
_METHOD_OF_TORCH = pattern(r"(torch\.[A-Z]\w*|torch\.nn\.(?:modules\.\w+\.)?[A-Z]\w*)\.[a-z]\w*")
_MODULE_OF_TORCH = pattern(r"torch(?:\.\w+)*")
_ASSIGNED = Query("(module (expression_statement (assignment left: (identifier) @name right: (_) @value)))")
# calls that make a class
_MAKES_CLASS = pattern(
    r"^(?:\w+\.)?(?:namedtuple|NamedTuple|make_dataclass|TypedDict|Enum|IntEnum|Flag|new_class|type|NewType)\("
)


class KnownNames:
    """``texts`` are the pieces of source that the script has, and ``others`` the names that it gives to values."""

    def __init__(self, files: OwnFiles, texts: Iterable[str], others: Iterable[str]) -> None:
        self._files = files
        self._kinds: dict[str, str] = {}
        for text in texts:
            tree = parse(text)
            self._kinds |= {d.qualified_name: d.kind for d in definitions(tree) if d.kind != "lambda"}
            for _, found in _ASSIGNED.matches(tree.root):
                is_class = _MAKES_CLASS.match(tree.node_text(found["value"][0])) is not None
                self._kinds[tree.node_text(found["name"][0])] = "class" if is_class else "value"
            self._kinds = dict.fromkeys(_bound_by(text), "value") | self._kinds
        self._others = frozenset(others)
        self.replaced: set[str] = set()

    def is_defined(self, name: str) -> bool:
        """Whether the script defines ``name`` by source of the user's files, or assigns it."""
        root = name.partition(".")[0]
        return is_dotted(name) and (root in self._kinds or root in self._others)

    def is_value(self, name: str, module: str) -> bool:
        """Whether ``name``, of ``module`` or of the script itself, may be a value."""
        if not is_dotted(name):
            return False
        if not module:
            return self.is_defined(name) or self._is_type(name)
        if not self._is_of(name, module):
            return False
        if name in PLAIN_CLASSES or name in _OF_PYTHON:
            return True
        if _leads_through_module(name):
            return False
        method = _METHOD_OF_TORCH.fullmatch(name)
        if method is not None and not self._files.reaches_out(name):
            return True
        is_computing = is_value_of_libraries(name) or _OF_TORCH.fullmatch(name) is not None
        return (
            (is_computing and not self._files.reaches_out(name))
            or self._is_class_of_library(name)
            or self._is_said(name)
        )

    def is_class(self, name: str, module: str) -> bool:
        """Whether ``name`` is a class that a script may call."""
        if not is_dotted(name):
            return False
        if not module:
            return self._is_own_class(name) or self._is_type(name)
        if not self._is_of(name, module) or name in self.replaced or _leads_through_module(name):
            return False
        return (
            name in PLAIN_CLASSES
            or name in ("torch.Size", "torch.Generator")
            or (_CLASS.fullmatch(name.rpartition(".")[2]) is not None and self._is_class_of_library(name))
        )

    def may_hold(self, name: str, texts: Iterable[str]) -> bool:
        """Whether an object of the class ``name`` of a library may have these texts as its attributes."""
        is_known = name in PLAIN_CLASSES or name.partition(".")[0] == "torch" or self._files.says(name)
        return is_known or all(map(self._files.has_text, texts))

    def reaches_out(self, name: str) -> bool:
        """Whether ``name`` says that it reaches what is outside of the program."""
        return self._files.reaches_out(name)

    def is_module(self, name: str) -> bool:
        """Whether a script may import the module ``name``."""
        if not is_dotted(name):
            return False
        return _MODULE_OF_TORCH.fullmatch(name) is not None or self._files.imports_module(name)

    def _is_own_class(self, name: str) -> bool:
        return self._kinds.get(name) == "class"

    def _is_type(self, name: str) -> bool:
        is_type = name in _TYPES or (
            isinstance(getattr(builtins, name, None), type) and name != "type" and name[0].isupper()
        )
        return is_type and name not in self._kinds

    @staticmethod
    def _is_of(name: str, module: str) -> bool:
        return is_dotted(module) and name.startswith(f"{module}.")

    def _is_class_of_library(self, name: str) -> bool:
        top, parts = name.partition(".")[0], name.split(".")
        if not any(_CLASS.fullmatch(part) for part in parts[-2:]) or self._files.reaches_out(name):
            return False
        if top == "torch":
            # a class that the files name; of one that they do not, no method
            is_named = _CLASS.fullmatch(parts[-1]) is not None and self._files.says(name)
            return is_torch_class(name) or is_named or _CLASS_IN_TORCH.fullmatch(name) is not None
        return (
            top not in sys.stdlib_module_names
            and self._files.imports_package(top)
            and _RUN_CODE.isdisjoint(parts)
            and not _leads_through_python(parts)
        )

    def _is_said(self, name: str) -> bool:
        """Whether it is a function of a package that the user's files name, and that does not say that it reaches out."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or self._files.reaches_out(name):
            return False
        if top == "torch" and any(part.startswith("_") for part in name.split(".")):
            return _OPERATOR_OF_TORCH.fullmatch(name) is not None
        return self._files.says(name) and not self._files.has_parts_of(name)


def is_dotted(name: object) -> bool:
    """Whether ``name`` is ``a.b.c``, without what Python itself uses."""
    return isinstance(name, str) and all(
        _PART.fullmatch(part) is not None and not part.startswith("__") and not iskeyword(part)
        for part in name.split(".")
    )


def _leads_through_module(name: str) -> bool:
    """Whether a part of the name of what torch has is a module of Python, or torch itself: what that has is not torch's."""
    top, *parts = name.split(".")
    modules = sys.stdlib_module_names - _LIKE_MODULES
    return top == "torch" and any(part in modules or part == "torch" for part in parts)


def _leads_through_python(parts: list[str]) -> bool:
    """Whether a part of a name is a module of Python that a library imports, by what follows: a library may have one of that name, too."""
    return any(
        module in sys.stdlib_module_names and inside in exported_names(module)
        for module, inside in itertools.pairwise(parts[1:])
    )


def _bound_by(text: str) -> Iterator[str]:
    """The names that a statement binds, also in its blocks."""
    try:
        for node in ast.walk(parse_module(text)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
    except SyntaxError:  # of a later Python: its definitions are known
        return
