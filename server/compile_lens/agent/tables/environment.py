"""Environment variables, found where torch and triton read them."""

from __future__ import annotations

import ast
import mmap
import os
import re
from collections.abc import Iterator
from typing import Any

from .source import SourceFile, dotted, mentioning, python_files, string, walk

_MENTIONS = re.compile(r"environ|getenv|env_name|_env\(|env_[a-z]+\(|_env_|envvar")
# a line of a statement that may read a variable
_ENVIRONMENT = re.compile("env", re.IGNORECASE)
# constants that hold a variable's name: `LOG_ENV_VAR = "TORCH_LOGS"`
_CONSTANT = re.compile(r"^[ \t]*(\w+)\s*(?::[^=\n]+)?=\s*\(?\s*(['\"])([A-Z][A-Z0-9_]{3,})\2", re.MULTILINE)
_NAME = re.compile(r"[A-Z][A-Z0-9_]{3,}\Z")
_PREFIX = re.compile(
    r"(?:PY)?TORCH|TRITON|INDUCTOR|AOT|DYNAMO|FX_|FAKE_|COMPILE_STROBELIGHT|PROTON|LLVM_|MLIR_|TUNE|KINETO"
)
# those without a prefix that users of torch set
_OF_USERS = re.compile(r"(?:RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|HIP_VISIBLE_DEVICES)\Z")
# variables of the system, of Python and of other programs that torch also reads
_FOREIGN = re.compile(
    r"(?:HOME|PATH|USER|USERNAME|LOGNAME|TMPDIR|TEMP|TMP|CI|SHELL|HOSTNAME|DISPLAY|INCLUDE|LIB|CC|CXX|CFLAGS|LANG|APPDATA"
    r"|LOCALAPPDATA|PROGRAM\w*|PYTHON\w*|LD_\w+|XDG_\w+|CONDA_\w+|GITHUB_\w+|SLURM_\w+|SANDCASTLE\w*|TW_\w+|MAST_\w+|VIRTUAL_ENV"
    r"|SystemRoot|WINDIR|MAX_JOBS|BUCK\w*|TEST_\w+|BUILD_\w+|GLOBAL_\w+)\Z"
)
# in these folders every variable counts; elsewhere only those with a prefix of torch or triton
_COMPILER = re.compile(
    r"torch/(?:_dynamo|_inductor|_functorch|_logging|_export|export|compiler|fx|_decomp|_subclasses|_higher_order_ops|utils)/|triton/"
)
_C_CALL = re.compile(r'(?:getenv|get_env|check_env|getCvar\w*)\(\s*"([A-Z][A-Z0-9_]{3,})"')
_C_STRING = re.compile(rb"\x00((?:TORCH|PYTORCH|TORCHINDUCTOR|TORCHELASTIC)_[A-Z0-9_]{3,60})\x00")
# macros, whose names occur in messages of checks
_NOT_A_VARIABLE = re.compile(
    r"TORCH_(?:LIBRARY\w*|CHECK\w*|INTERNAL_\w+|INCLUDE_\w+|FUNCTION_\w+|SYMBOLIZE_MODE|FR_DUMP_\w+_FILE_NAME)\Z"
)
MAX_PLACES = 6


def environment_variables(root: str) -> dict[str, dict[str, Any]]:
    """Variables by name: where they are read, the default in the source, and the comment above."""
    found: dict[str, dict[str, Any]] = {}
    for folder in ("torch", "triton"):
        for source in mentioning(root, python_files(root, folder), _MENTIONS):
            for name, node, default in _reads(source):
                if _belongs(name, source.path):
                    use = "set_at" if _is_stored(node) else "read_at"
                    _add(found, name, use, source.at(node.lineno), default, _comment(source, node))
    _add_headers(root, found)
    _add_libraries(root, found)
    return dict(sorted(found.items()))


def _belongs(name: str, path: str) -> bool:
    if _FOREIGN.match(name):
        return False
    known = _PREFIX.match(name) or _OF_USERS.match(name)
    return known is not None or _COMPILER.match(path) is not None


def _reads(source: SourceFile) -> Iterator[tuple[str, ast.expr, str]]:
    """Name, node and default of each read of an environment variable."""
    constants = {match.group(1): match.group(3) for match in _CONSTANT.finditer(source.text)}
    for node in walk(source.tree, source.lines_with(_ENVIRONMENT)):
        if isinstance(node, ast.Call):
            yield from _reads_of_call(source, node, constants)
        elif isinstance(node, ast.Subscript) and dotted(node.value).endswith(("environ", "env")):
            name = _variable(node.slice, constants)
            if name is not None:
                yield name, node, ""
        elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
            name = _variable(node.left, constants)
            if name is not None and dotted(node.comparators[0]).endswith("environ"):
                yield name, node, ""


def _variable(node: ast.expr | None, constants: dict[str, str]) -> str | None:
    text = constants.get(node.id) if isinstance(node, ast.Name) else string(node)
    return text if text is not None and _NAME.match(text) else None


def _reads_of_call(
    source: SourceFile, node: ast.Call, constants: dict[str, str]
) -> Iterator[tuple[str, ast.expr, str]]:
    function = dotted(node.func)
    last = function.rpartition(".")[2]
    if "environ" in function or "env" in last.lower():
        name = _variable(node.args[0] if node.args else None, constants)
        if name is not None:
            default = source.segment(node.args[1], 80) if len(node.args) > 1 else ""
            yield name, node, default
    for word in node.keywords:
        if word.arg is not None and "env" in word.arg:
            for element in word.value.elts if isinstance(word.value, (ast.List, ast.Tuple)) else [word.value]:
                name = string(element)
                if name is not None and _NAME.match(name):
                    yield name, element, ""


def _comment(source: SourceFile, node: ast.expr) -> str:
    """The comment above the statement that reads the variable (a multi-line statement starts above ``node``)."""
    line = node.lineno
    while line > 1 and node.lineno - line < 6:
        text = source.lines[line - 1]
        if re.match(r"\s*[\w.]+\s*(?::[^=]+)?=|\s*(?:if|return|elif)\b|\s*\w+\(", text):
            break
        line -= 1
    return source.comment(line, node.end_lineno)


def _is_stored(node: ast.expr) -> bool:
    """Whether torch sets the variable here, for another process or program."""
    return isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)


def _add(found: dict[str, dict[str, Any]], name: str, use: str, place: str, default: str, comment: str) -> None:
    entry = found.setdefault(name, {"at": place})
    places = entry.setdefault(use, [])
    if place not in places and len(places) < MAX_PLACES:
        places.append(place)
    if default and "default" not in entry:
        entry["default"] = default
    if comment and "doc" not in entry:
        entry["doc"] = comment


def _add_headers(root: str, found: dict[str, dict[str, Any]]) -> None:
    for parent, _, names in os.walk(os.path.join(root, "torch", "include")):
        for name in sorted(names):
            if not name.endswith((".h", ".hpp", ".cuh")):
                continue
            full = os.path.join(parent, name)
            with open(full, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if "env(" not in text and "getCvar" not in text:
                continue
            path = os.path.relpath(full, root).replace(os.sep, "/")
            for match in _C_CALL.finditer(text):
                if _belongs(match.group(1), ""):
                    _add(
                        found, match.group(1), "read_at", f"{path}:{text.count(chr(10), 0, match.start()) + 1}", "", ""
                    )


def _names_in(data: mmap.mmap) -> set[str]:
    """Variables in a library, found by their common part: four times as fast as the pattern over 400 MB."""
    found: set[str] = set()
    at = data.find(b"TORCH")
    while at >= 0:
        # from two letters before it, for the longest prefix, PYTORCH
        for start in (at - 1, at - 3):
            match = _C_STRING.match(data[max(start, 0) : at + 80])
            if match is not None:
                found.add(match.group(1).decode())
        at = data.find(b"TORCH", at + 1)
    return found


def _add_libraries(root: str, found: dict[str, dict[str, Any]]) -> None:
    """Names stored as whole strings in a compiled library; the source of most of them is not in the wheel."""
    folder = os.path.join(root, "torch", "lib")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not name.startswith(("libtorch_cpu", "libtorch_cuda", "libtorch_python", "libc10", "torch_cpu", "c10")):
            continue
        if not name.endswith((".so", ".dylib", ".dll")):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                continue
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                names = sorted(_names_in(data))
        for variable in names:
            if variable not in found and not _NOT_A_VARIABLE.match(variable):
                found[variable] = {"library": f"torch/lib/{name}"}
