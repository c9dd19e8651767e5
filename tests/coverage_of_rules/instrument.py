"""Makes a copy of the product that notes what of it runs: functions, branches, patterns, and rows of tables."""

from __future__ import annotations

import ast
import shutil
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "server" / "compile_lens"
RECORDER = Path(__file__).with_name("recorder.py")
LOAD = """
_lens = {{"__name__": "recorder"}}
exec(compile(open({recorder!r}).read(), {recorder!r}, "exec"), _lens)
_lens_hits, _lens_expressions, _lens_table = _lens["hits"](), _lens["Expressions"], _lens["Table"]
"""
# a dictionary with fewer rows is no table
FEWEST_ROWS = 3


class SpotKind(str, Enum):
    """What a spot is."""

    FUNCTION = "function"
    BRANCH = "branch"
    PATTERN = "pattern"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Spot:
    """One thing that may run. Its number is its place in the list of all, and in the file of hits."""

    kind: SpotKind
    file: str
    line: int
    what: str


class Instrumenter(ast.NodeTransformer):
    """Changes one module, and adds its spots to ``spots``."""

    def __init__(self, file: str, spots: list[Spot]) -> None:
        self._file = file
        self._spots = spots
        self._where: list[str] = []
        self.patterns: dict[str, int] = {}

    def _add(self, kind: SpotKind, line: int, what: str) -> int:
        self._spots.append(Spot(kind, self._file, line, what))
        return len(self._spots) - 1

    def _noted(self, kind: SpotKind, body: list[ast.stmt], line: int, what: str) -> list[ast.stmt]:
        note = ast.parse(f"_lens_hits[{self._add(kind, line, what)}] = 1").body
        docstring = kind is SpotKind.FUNCTION and ast.get_docstring(ast.Module(body, [])) is not None
        return [*body[:1], *note, *body[1:]] if docstring else [*note, *body]

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._where.append(node.name)
        what = ".".join(self._where)
        self.generic_visit(node)
        self._where.pop()
        node.body = self._noted(SpotKind.FUNCTION, node.body, node.lineno, what)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._where.append(node.name)
        self.generic_visit(node)
        self._where.pop()
        return node

    def _branch(self, body: list[ast.stmt], what: str) -> list[ast.stmt]:
        if not self._where:
            return body
        return self._noted(SpotKind.BRANCH, body, body[0].lineno, f"{'.'.join(self._where)}: {what}")

    def visit_If(self, node: ast.If) -> ast.AST:
        condition = ast.unparse(node.test)
        self.generic_visit(node)
        node.body = self._branch(node.body, f"if {condition}")
        if node.orelse and not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
            node.orelse = self._branch(node.orelse, f"else of if {condition}")
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        caught = ast.unparse(node.type) if node.type else ""
        self.generic_visit(node)
        node.body = self._branch(node.body, f"except {caught}")
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        pattern = ast.unparse(node.pattern)
        self.generic_visit(node)
        node.body = self._branch(node.body, f"case {pattern}")
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        # which texts are patterns is known when they are used
        if isinstance(node.value, str) and len(node.value) > 1 and "\n\n" not in node.value:
            self.patterns.setdefault(node.value, self._add(SpotKind.PATTERN, node.lineno, node.value))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = self._table(node.value, ast.unparse(node.targets[0]))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self._table(self.visit(node.value), ast.unparse(node.target))
        return node

    def _table(self, value: ast.expr, name: str) -> ast.expr:
        if self._where or not isinstance(value, ast.Dict) or len(value.keys) < FEWEST_ROWS:
            return value
        rows: dict[object, int] = {}
        for key in value.keys:
            if not isinstance(key, ast.Constant):
                return value
            rows[key.value] = self._add(SpotKind.ROW, key.lineno, f"{name}[{key.value!r}]")
        return ast.Call(ast.Name("_lens_table", ast.Load()), [ast.parse(repr(rows), mode="eval").body, value], [])


def instrument(target: Path, hits: Path) -> list[Spot]:
    """Write the copy as the folder ``server`` below ``target``, and an empty file of hits."""
    copy = target / "server" / "compile_lens"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    recorder = f"HITS = {str(hits)!r}\n{RECORDER.read_text()}"
    (target / "recorder.py").write_text(recorder)
    spots: list[Spot] = []
    for file in sorted(copy.rglob("*.py")):
        if file.name != "boot.py":
            file.write_text(_instrumented(file, str(file.relative_to(copy)), target / "recorder.py", spots))
    hits.write_bytes(bytes(len(spots)))
    return spots


def _instrumented(file: Path, name: str, recorder: Path, spots: list[Spot]) -> str:
    tree = ast.parse(file.read_text())
    has_docstring = ast.get_docstring(tree) is not None
    head = tree.body[: 1 if has_docstring else 0]
    rest = tree.body[len(head) :]
    while rest and isinstance(rest[0], ast.ImportFrom) and rest[0].module == "__future__":
        head.append(rest.pop(0))
    module = Instrumenter(name, spots)
    body = [module.visit(node) for node in rest]
    load = ast.parse(LOAD.format(recorder=str(recorder))).body
    for node in list(body):
        if isinstance(node, ast.Import) and any(each.name == "re" for each in node.names):
            noted = f"re = _lens_expressions({module.patterns!r})"
        elif isinstance(node, ast.ImportFrom) and node.module == "compile_lens.late_pattern":
            noted = f"pattern = _lens_expressions({module.patterns!r}).compile"
        else:
            continue
        place = body.index(node) + 1
        body[place:place] = ast.parse(noted).body
    return ast.unparse(ast.fix_missing_locations(ast.Module([*head, *load, *body], [])))
