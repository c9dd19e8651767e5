"""Keeps synthesized inputs by writing them into the file, as a comment or as functions."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

from compile_lens.entries.call_grammar import written_call
from compile_lens.entries.entry_comment import entry_comment
from compile_lens.entries.makers import DTYPES, INTEGERS
from compile_lens.entries.project_names import ProjectFiles
from compile_lens.late_pattern import pattern
from compile_lens.shown_text import one_line
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.syntax.tree import SourceTree

_DECLARATION = pattern(r"#!|#.*coding[:=]")
USUAL_LIMIT = 10
REMARK_WIDTH = 100
# what made-up objects are made of, by the module to import
_MODULES = {"types": "types.SimpleNamespace(", "PIL.Image": "PIL.Image.new("}


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text that replaces ``lines`` whole lines from ``line`` on; with 0 lines, it is inserted before that line."""

    line: int
    lines: int
    text: str


def as_comment(tree: SourceTree, call: str, files: ProjectFiles | None = None) -> Insertion | None:
    """The comment that names ``call`` as the entry; it replaces an existing one. None for what may not be written: a program says what it
    was called with, and may say anything."""
    if written_call(tree, call, files) is None:
        return None
    text = f"# compile-lens: entry={call}\n"
    known = entry_comment(tree)
    if known is not None:
        return Insertion(known[1], 1, text)
    line = 1
    while line <= 2 and _DECLARATION.match(tree.line_text(line)):
        line += 1
    return Insertion(line, 0, text)


def as_python(call: str) -> str:
    """``call`` in plain torch: ``f(torch.randn(2, 3))`` for ``f(float32[2, 3])``. Raises SyntaxError if it is not an expression."""
    return ast.unparse(ast.fix_missing_locations(_Torch().visit(parse_expression(call))))


def as_functions(tree: SourceTree, call: str, remark: str = "", files: ProjectFiles | None = None) -> Insertion | None:
    """``get_inputs()``, and ``get_init_inputs()`` for a class, at the end of the file, below a comment of ``remark``; None if the call has
    no such form."""
    outer = written_call(tree, call, files)
    if outer is None or not isinstance(outer.func, (ast.Name, ast.Attribute, ast.Call)):
        return None  # an object that is prepared by other calls has no such form
    functions = ["get_inputs", *(["get_init_inputs"] if isinstance(outer.func, ast.Call) else [])]
    calls = [outer, *([outer.func] if isinstance(outer.func, ast.Call) else [])]
    if any(re.search(rf"^(?:def )?{name}\b", tree.text, re.M) for name in functions):
        return None
    above = "".join(f"# {line}\n" for line in textwrap.wrap(one_line(remark), REMARK_WIDTH))
    made = [_function(name, _arguments(each)) for name, each in zip(functions, calls, strict=True)]
    body = "\n\n" + above + "\n\n".join(made)
    last = len(tree.lines)
    is_closed = not tree.line_text(last)
    return Insertion(last if is_closed else last + 1, 0, body if is_closed else f"\n{body}")


def _function(name: str, value: str) -> str:
    imported = "".join(f"    import {module}\n\n" for module, used in _MODULES.items() if used in value)
    return f"def {name}():\n{imported}    return {value}\n"


def _arguments(call: ast.Call) -> str:
    positional = [ast.unparse(_Torch().visit(argument)) for argument in call.args]
    named = {k.arg or "": ast.unparse(_Torch().visit(k.value)) for k in call.keywords}
    as_list = f"[{', '.join(positional)}]"
    if not named:
        return as_list
    as_mapping = "{" + ", ".join(f'"{name}": {value}' for name, value in named.items()) + "}"
    return f"({as_list}, {as_mapping})" if positional else as_mapping


class _Torch(ast.NodeTransformer):
    """Replaces ``float32[2, 3]`` with the torch code that creates it."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        tensor = _tensor(node.left)
        if tensor is None:
            return self.generic_visit(node)
        dtype, shape = tensor
        limit = ast.unparse(node.comparators[0])
        if isinstance(node.ops[0], ast.Eq):
            return _parsed(f"torch.full({_tuple(shape)}, {limit}, dtype=torch.{dtype})")
        return _parsed(_random(dtype, shape, limit))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        tensor = _tensor(node)
        return self.generic_visit(node) if tensor is None else _parsed(_random(*tensor, str(USUAL_LIMIT)))


def _tensor(node: ast.expr) -> tuple[str, str] | None:
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or node.value.id not in DTYPES:
        return None
    return node.value.id, ast.unparse(node.slice).strip("()").rstrip(",")


def _random(dtype: str, shape: str, limit: str) -> str:
    if dtype in INTEGERS:
        kind = "" if dtype == "int64" else f", dtype=torch.{dtype}"
        return f"torch.randint(0, {limit}, {_tuple(shape)}{kind})"
    shape = shape or "()"  # a tensor without dimensions
    if dtype == "bool":
        return f"torch.rand({shape}) < 0.5"
    return f"torch.randn({shape})" if dtype == "float32" else f"torch.randn({shape}, dtype=torch.{dtype})"


def _tuple(shape: str) -> str:
    return f"({shape},)" if shape else "()"


def _parsed(text: str) -> ast.AST:
    return parse_expression(text)
