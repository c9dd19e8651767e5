"""Reads from a failed statement which model it would have constructed, and with which arguments."""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed
from ..importing.absent import Absent
from ..importing.missing_imports import is_of_project
from ..synthesis.source.signatures import read_parameters
from .known_arguments import text_of
from .named_models import is_beside

_PURE = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
    ast.Subscript,
)


class FailedConstructions:
    """``found``: classes of models, and their known arguments as text by parameter."""

    def __init__(self) -> None:
        self._calls: dict[int, list[ast.Call]] = {}
        self.found: list[tuple[type, dict[str, str]]] = []

    def read(self, source: str) -> None:
        """Remember the calls of each line of ``source``."""
        tree = parsed(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                self._calls[node.lineno] = [n for n in ast.walk(node) if isinstance(n, ast.Call)]

    def add(self, frame: FrameType, line: int) -> None:
        """The statement in ``line`` failed in ``frame``."""
        import torch

        for call in self._calls.get(line, ()):
            cls = _value(call.func, frame)
            is_model = isinstance(cls, type) and issubclass(cls, torch.nn.Module)
            if (
                is_model
                and not cls.__module__.startswith("torch.")
                and not _is_beside(cls, frame)
                and all(cls is not known for known, _ in self.found)
            ):
                self.found.append((cls, _arguments(cls, call, frame)))


def _is_beside(cls: type, frame: FrameType) -> bool:
    """Whether it is a transform or a loss of a library."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    return is_beside(cls) and not is_of_project(file, frame.f_code.co_filename)


def _arguments(cls: type, call: ast.Call, frame: FrameType) -> dict[str, str]:
    names = [info.name for info in read_parameters(getattr(cls, "__init__"), skip_first=True)]  # noqa: B009
    given = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    texts = {name: text_of(_value(node, frame), cls) for name, node in given.items()}
    return {name: text for name, text in texts.items() if text is not None and text != "None"}


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of an expression that calls nothing; None where it has none."""
    if not all(isinstance(each, _PURE) for each in ast.walk(node)):
        return None
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<argument>", "eval")
    value = attempted(lambda: eval(code, frame.f_globals, frame.f_locals))
    return None if type(value) is Absent else value
