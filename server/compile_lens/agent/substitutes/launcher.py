"""Supplies the variables of ``torchrun`` to a program that cannot run without them.

Such a program starts distributed work, and its text reads one of the variables where nothing handles that it is missing. A program
that asks whether they are there decides for itself, as it does when it is started with ``python``.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..inputs.importing.module import package_of
from ..runtime.entry_plans import ImportingScript, ImportingTest, UsingScript, UsingTest
from ..runtime.parsed_source import LONGEST_OUTSIDE, parsed
from ..runtime.protocol import RunCommand

# set by torchrun (torch/distributed/elastic/agent/server/local_elastic_agent.py)
VARIABLES = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "GROUP_RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
    "GROUP_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
}
# whose presence says that a launcher started the program; the others only say where to meet
TELLING = frozenset(name for name in VARIABLES if not name.startswith("MASTER_"))
STARTS = re.compile(
    r"\b(?:init_process_group|init_device_mesh|DeviceMesh|init_distributed|init_rpc|DistributedDataParallel|fully_shard"
    r"|FullyShardedDataParallel|Accelerator|Fabric|deepspeed)\b"
)
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+([\w, \t(]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
HANDLED = frozenset({"KeyError", "LookupError", "Exception", "BaseException"})
MAX_FILES = 200


@dataclass(frozen=True)
class Read:
    """A place where a variable is read that must be there."""

    name: str
    file: str
    line: int
    column: int
    end_column: int
    text: str


@dataclass(frozen=True)
class ProgramText:
    """The files of a program: that which is run, and those beside it that it imports."""

    files: dict[str, str]

    @property
    def starts_distributed_work(self) -> bool:
        """Whether it names what creates process groups."""
        return any(STARTS.search(text) for text in self.files.values())

    def first_needed(self, present: Iterable[str]) -> Read | None:
        """The first read of a variable of ``torchrun`` that is not ``present`` and that the program cannot do without."""
        if not self.starts_distributed_work:
            return None
        uses = [_Uses(file, text) for file, text in self.files.items() if "environ" in text]
        own = {name for each in uses for name in each.stored}
        decides = any(each.asks for each in uses)
        reads = (read for each in uses for read in (each.at_top if decides else each.reads))
        return next((read for read in reads if read.name not in own and read.name not in set(present)), None)


def program_text(command: RunCommand) -> ProgramText:
    """The text of the file that ``command`` runs, of the one that runs it, and of what they import from their folders."""
    found: dict[str, str] = {}
    pending = [command.file]
    if isinstance(command.plan, (ImportingScript, UsingScript)):
        pending.append(command.plan.path)
    elif isinstance(command.plan, (ImportingTest, UsingTest)):
        pending.append(command.plan.node.partition("::")[0])
    while pending and len(found) < MAX_FILES:
        file = pending.pop(0)
        if file in found:
            continue
        text = command.text if file == command.file and command.text is not None else _text(file)
        if text is not None:
            found[file] = text
            pending += _imported(file, text)
    return ProgramText(found)


def supply() -> None:
    """Set the variables that are not set."""
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)


def _text(file: str) -> str | None:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:  # reported where the file is run
        return None


def _imported(file: str, text: str) -> Iterator[str]:
    """Files that the imports of ``text`` may mean, below the folder of ``file`` and that of its package."""
    folder = os.path.dirname(os.path.abspath(file))
    for match in IMPORT.finditer(text):
        origin, names, modules = match.groups()
        if modules is not None:
            wanted = [(name.split()[0], "") for name in modules.split(",") if name.strip()]
        else:
            wanted = [
                (origin, ""),
                *((origin, name.split()[0]) for name in names.strip("( ").split(",") if name.strip()),
            ]
        for module, name in wanted:
            dots = len(module) - len(module.lstrip("."))
            roots = (
                [os.path.normpath(os.path.join(folder, *[".."] * (dots - 1)))]
                if dots
                else [folder, package_of(file)[0]]
            )
            parts = [part for part in (*module.lstrip(".").split("."), name) if part]
            for root in dict.fromkeys(roots):
                place = os.path.join(root, *parts)
                yield from (
                    path for path in (f"{place}.py", os.path.join(place, "__init__.py")) if os.path.isfile(path)
                )


class _Uses(ast.NodeVisitor):
    """How a file uses the variables in ``os.environ``."""

    def __init__(self, file: str, text: str) -> None:
        self.reads: list[Read] = []
        self.at_top: list[Read] = []  # those that are reached whatever the program decides
        self.stored: set[str] = set()
        self.asks = False
        self._file = file
        self._lines = text.splitlines()
        self._inside = 0  # of functions and conditions
        self._handled = 0
        tree = parsed(text, LONGEST_OUTSIDE)
        self.visit(tree if tree is not None else ast.Module([], []))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        name = _variable(node.slice) if _is_environment(node.value) else ""
        if name and isinstance(node.ctx, ast.Store):
            self.stored.add(name)
        elif name and isinstance(node.ctx, ast.Load):
            self._add_read(name, node)
        self.generic_visit(node)

    def _add_read(self, name: str, node: ast.Subscript) -> None:
        if self._handled:
            self.asks = self.asks or name in TELLING
            return
        line = self._lines[node.lineno - 1]
        start, end = (
            len(line.encode()[: at or 0].decode(errors="ignore")) + 1 for at in (node.col_offset, node.end_col_offset)
        )
        read = Read(name, self._file, node.lineno, start, end, line.strip())
        self.reads.append(read)
        if not self._inside:
            self.at_top.append(read)

    def visit_Compare(self, node: ast.Compare) -> None:
        if _variable(node.left) in TELLING and any(map(_is_environment, node.comparators)):
            self.asks = True
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = _variable(node.args[0]) if node.args else ""
        function = node.func
        if name and isinstance(function, ast.Attribute):
            if function.attr == "setdefault" and _is_environment(function.value):
                self.stored.add(name)
            elif function.attr == "getenv" or (function.attr in ("get", "pop") and _is_environment(function.value)):
                self._ask(name, node)
        elif name and isinstance(function, ast.Name) and function.id == "getenv":
            self._ask(name, node)
        self.generic_visit(node)

    def _ask(self, name: str, node: ast.Call) -> None:
        default = node.args[1] if len(node.args) > 1 else None
        # with the default that is the value for a single process, it makes no difference
        if name in TELLING and not (isinstance(default, ast.Constant) and str(default.value) == VARIABLES[name]):
            self.asks = True

    def visit_Try(self, node: Any) -> None:
        caught = any(_catches_missing(handler) for handler in node.handlers)
        self._handled += caught
        for part in node.body:
            self.visit(part)
        self._handled -= caught
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_With(self, node: Any) -> None:
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        caught = any(
            _name(call.func) == "suppress" and any(_name(kind) in HANDLED for kind in call.args) for call in calls
        )
        self._handled += caught
        self.generic_visit(node)
        self._handled -= caught

    def visit_If(self, node: Any) -> None:
        self.visit(node.test)
        is_start = any(_name(part) == "__name__" for part in ast.walk(node.test))
        self._inside += not is_start
        for part in (*node.body, *node.orelse):
            self.visit(part)
        self._inside -= not is_start

    def _visit_inside(self, node: ast.AST) -> None:
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1

    visit_TryStar = visit_Try  # noqa: N815
    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_IfExp = visit_BoolOp = _visit_inside  # noqa: N815


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or _name(kind) in HANDLED for kind in kinds)


def _is_environment(node: ast.AST) -> bool:
    return _name(node) == "environ"


def _name(node: ast.AST) -> str:
    """The name that ``node`` is, or the last part of a dotted one."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _variable(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and node.value in VARIABLES else ""
