"""What the agent describes for a script is held to data before anything is written of it: the program, which runs in the agent's
process, may have changed it, and the script runs as the user's shell would run it."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from typing import Any

from compile_lens.late_pattern import pattern
from compile_lens.repro.capture import CapturedCall, CapturedRegion
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.own_files import OwnFiles
from compile_lens.syntax.foreign_texts import parse_expression, parse_module

_DOTTED = pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_DTYPE = pattern(r"torch\.\w+")
_SAVED = pattern(r"\w[\w.-]*")
# modules of the standard library whose objects are data
_PLAIN_MODULES = frozenset(
    ["argparse", "collections", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "math", "numbers", "operator",
     "pathlib", "types", "typing", "uuid"]
)  # fmt: skip
_BUILTINS = frozenset(
    ["bool", "bytes", "classmethod", "complex", "dict", "float", "frozenset", "int", "list", "object", "property", "range", "set", "slice",
     "staticmethod", "str", "tuple", "type"]
)  # fmt: skip
INSTEAD = "A repro of the graph alone needs no source: pass `--kind graph`."
_CALLS_OF_CODE = ("float", "range", "slice")


def check_described(region: CapturedRegion, calls: tuple[CapturedCall, ...], files: OwnFiles) -> None:
    """Raises CannotWrite unless the source of ``region`` stands in ``files``, and all else that goes into a script are values and calls of
    classes of these files and of installed packages."""
    try:
        _Check(region, files).all(calls)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CannotWrite(f"The run described something that a script cannot contain. {INSTEAD}") from error


class _Check:
    def __init__(self, region: CapturedRegion, files: OwnFiles) -> None:
        self._region = region
        self._files = files
        self._locals = {local["name"] for file in region.files for local in file["locals"]}

    def all(self, calls: tuple[CapturedCall, ...]) -> None:
        region = self._region
        for file in region.files:
            self._file(file)
        for patch in region.patches:
            _require(str(patch["name"]).isidentifier(), patch["name"])
        for line in region.config:
            _require(_is_option(line), line)
        _require(_DTYPE.fullmatch(region.state["default_dtype"]) is not None, region.state["default_dtype"])
        for _, dtype in region.state["autocast"]:
            _require(_DTYPE.fullmatch(dtype) is not None, dtype)
        self._values([region.target, dict(region.options), list(region.patches)])
        for call in calls:
            self._values([list(call.args), dict(call.kwargs)])
            for name in (*call.globals, *(path.rpartition(".")[2] for path in call.attributes)):
                _require(name.isidentifier(), name)

    def _file(self, file: Any) -> None:
        path, texts = str(file["file"]), [item["text"] for item in file["items"] if "text" in item]
        texts += [local["text"] for local in file["locals"]]
        for text in texts:
            if not self._files.has(path) or not self._files.has_statement(path, text):
                first = (text.strip().splitlines() or [""])[0]
                raise CannotWrite(
                    f"The script would need `{first[:100]}`, which is in no file that {self._files.main.name} imports, as far as its "
                    "text says. If it is of a test or another script that runs the file, name that with `--entry`."
                )
        for name in (*(i["name"] for i in file["items"] if "name" in i), *self._locals_of(file)):
            _require(str(name).isidentifier(), name)
        for line in file["imports"]:
            self._import_line(line)
        self._values(
            [i.get("value") for i in file["items"]] + [list(local["free"].values()) for local in file["locals"]]
        )

    def _locals_of(self, file: Any) -> Iterator[str]:
        for local in file["locals"]:
            yield from (local["name"], *local["free"])

    def _import_line(self, line: str) -> None:
        try:
            match parse_module(line).body:
                case [ast.Import(names)]:
                    modules = [alias.name for alias in names]
                case [ast.ImportFrom(module=str(module), level=0)]:
                    modules = [module]
                case _:
                    modules = []
        except SyntaxError:
            modules = []
        _require(bool(modules) and all(map(self._files.imports, modules)), line)

    def _values(self, value: Any) -> None:
        if isinstance(value, list | tuple):
            for item in value:
                self._values(item)
        elif isinstance(value, dict):
            if "is" in value:
                self._described(value)
            for item in value.values():
                self._values(item)

    def _described(self, value: dict[str, Any]) -> None:
        match value["is"]:
            case "code":
                _require(_is_value(value["code"]), value["code"])
            case "name":
                self._name(value)
            case "python-module":
                _require(_is_dotted(value["name"]) and self._files.imports(value["name"]), value["name"])
            case "attribute":
                _require(str(value["name"]).isidentifier(), value["name"])
            case "numpy":
                _require(str(value["dtype"]).isidentifier(), value["dtype"])
                for each in (value.get("value"), value.get("shape")):
                    _require(each is None or _is_value(each), each)
            case "tensor":
                _require(_DTYPE.fullmatch(value["dtype"]) is not None, value["dtype"])
                _require(all(type(size) is int for size in (*value["shape"], *value["stride"])), value["shape"])
                self._numbers(value["values"])
            case "module":
                for dtype in value["dtypes"]:
                    _require(_DTYPE.fullmatch(dtype) is not None, dtype)
                for mode in (value["training"], *value["modes"].values()):
                    _require(type(mode) is bool, mode)
                _require(not value.get("state") or _SAVED.fullmatch(value["state"]) is not None, value.get("state"))
        if value["is"] in ("call", "object", "module"):
            self._callee(value["of"])

    def _numbers(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if name == "file":
                _require(_SAVED.fullmatch(value) is not None, value)
            else:
                for each in value if isinstance(value, list) else [value]:
                    _require(_is_value(str(each)), each)

    def _name(self, value: dict[str, Any]) -> None:
        name, module = str(value["name"]), value.get("import")
        _require(_is_dotted(name), name)
        if module:
            _require(_is_dotted(module) and name.startswith(f"{module}.") and self._files.imports(module), name)
        else:
            root = name.partition(".")[0]
            is_builtin = hasattr(builtins, root) and (root in _BUILTINS or isinstance(getattr(builtins, root), type))
            _require(is_builtin or root in self._locals or self._files.has_name(root), name)

    def _callee(self, of: Any) -> None:
        """A class is called, or one of the user's own functions that makes an object."""
        if of["is"] == "code":
            _require(of["code"] == "torch.Size", of["code"])
            return
        _require(of["is"] == "name", of["is"])
        name, module = str(of["name"]), of.get("import")
        if not module:
            root = name.partition(".")[0]
            _require(name in _BUILTINS or not hasattr(builtins, root), name)
            return
        top = module.partition(".")[0]
        is_plain = top in _PLAIN_MODULES or top not in sys.stdlib_module_names
        is_class = name.rpartition(".")[2].lstrip("_")[:1].isupper() or top in _PLAIN_MODULES
        _require(is_plain and is_class, name)


def _require(holds: bool, what: Any) -> None:
    if not holds:
        raise CannotWrite(f"The run described something that a script cannot contain: `{str(what)[:100]}`. {INSTEAD}")


def _is_dotted(name: str) -> bool:
    return _DOTTED.fullmatch(name) is not None and not any(part.startswith("__") for part in name.split("."))


def _is_option(line: str) -> bool:
    """``torch._dynamo.config.name = value``."""
    left, equals, right = line.partition(" = ")
    return bool(equals) and _is_dotted(left) and left.startswith("torch.") and _is_value(right)


def _is_value(text: str) -> bool:
    """Whether ``text`` is a value as Python writes it: a literal, ``float('nan')``, ``range(2)``, ``slice(0, 1)``, ``torch.float16``."""
    try:
        return _is_plain(parse_expression(text))
    except (SyntaxError, RecursionError):
        return False


def _is_plain(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(items) | ast.List(items) | ast.Set(items):
            return all(map(_is_plain, items))
        case ast.Dict(keys, values):
            return all(map(_is_plain, (*keys, *values)))
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            return _is_plain(operand)
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return _is_plain(left) and _is_plain(right)
        case ast.Attribute(ast.Name("torch"), name):
            return not name.startswith("__")
        case ast.Call(ast.Name(name), arguments, []):
            return name in _CALLS_OF_CODE and all(map(_is_plain, arguments))
    return False
