"""Tells what made a call fail: the line of the user's file, and the arguments that the failing lines name."""

from __future__ import annotations

import ast
import os
import re
import traceback

from .... import OWN_FOLDER
from ....runtime.parsed_source import parsed
from .failing_lines import source_of

_TORCH = f"{os.sep}torch{os.sep}"
MOST = 4


def line_of_failure(error: BaseException, file: str) -> int:
    """The line of ``file`` that the innermost of its frames was doing; 0 where none of them raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == file), 0)


def involved_arguments(draft: str, error: BaseException, in_constructor: bool = False) -> tuple[str, ...]:
    """The arguments of the call ``draft`` that the failing lines name, those of the innermost one first.

    ``in_constructor``: the object could not be made, so that only the constructor's arguments matter.
    What is kept as `self._width` most often comes from a parameter `width`.
    """
    names = argument_names(draft, in_constructor)
    found: list[str] = []
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith((OWN_FOLDER, "<")) or _TORCH in frame.filename:
            continue
        for word in re.findall(r"[A-Za-z_]\w*", source_of(frame)):
            found += [name for name in (word, word.strip("_")) if name in names]
    # where a line names none of few, it computes with what was made of them
    return tuple(dict.fromkeys(found))[:MOST] or (tuple(names) if len(names) < MOST else ())


def argument_names(draft: str, in_constructor: bool = False) -> list[str]:
    """The names of the arguments of the outermost calls: of `Net(width=4)(x=float32[2])`, `x` and `width`. Those of methods that come
    before (`(m := Net(), m.setup(rows=2))[0](…)`) stand between them."""
    call: ast.AST | None = call_in(draft)
    found: list[str] = []
    if in_constructor and isinstance(call, ast.Call):
        call = call.func
    while isinstance(call, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(call, ast.Call):
            found += [keyword.arg for keyword in call.keywords if keyword.arg]
        elif isinstance(call, ast.Subscript):
            prepared = prepared_in(call)
            found += [each.arg for step in (prepared[1] if prepared else ()) for each in step.keywords if each.arg]
            call = prepared[0] if prepared else None
            continue
        call = call.func if isinstance(call, ast.Call) else call.value
    return list(dict.fromkeys(found))


def call_in(draft: str) -> ast.expr | None:
    """The expression ``draft``; None where it is no single one."""
    tree = parsed(draft)
    statement = tree.body[0] if tree is not None and tree.body else None
    return statement.value if isinstance(statement, ast.Expr) else None


def prepared_in(node: ast.expr) -> tuple[ast.expr, list[ast.Call]] | None:
    """What `(m := Net(), m.setup())[0]` makes, and the calls that come before others; None for anything else."""
    match node:
        case ast.Subscript(ast.Tuple([ast.NamedExpr(value=made), *steps])):
            return made, [step for step in steps if isinstance(step, ast.Call)]
    return None


def construction_in(node: ast.expr) -> ast.Call | None:
    """The call of a class in `Net(4)(x)`, `Net(4).encode(x)` and `(m := Net(4), m.set())[0](x)`."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Call) and is_dotted(node.func):
            return node
        prepared = prepared_in(node)
        inner = node.func if isinstance(node, ast.Call) else node.value
        node = prepared[0] if prepared is not None else inner
    return None


def is_dotted(node: ast.expr) -> bool:
    """Whether ``node`` is `Net` or `models.Net`, and not `Net().fit`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
