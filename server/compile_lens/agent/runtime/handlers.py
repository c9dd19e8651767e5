"""Tells handlers that provide for an error from those that only end the program, or say that it has failed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_ENDS = frozenset({"exit", "_exit", "quit", "abort"})
# what is called only to say that something failed: functions, and methods of loggers and consoles
_SAYS = frozenset({"print", "pprint", "print_exc", "print_exception", "print_stack", "echo", "secho", "write", "flush"})
_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})


def gives_up(handler: ast.ExceptHandler) -> bool:
    """Whether ``handler`` ends the program, or raises an error again: `except ImportError: sys.exit("Install x first")`."""
    return ends_program(handler.body[-1])


def ends_program(node: ast.stmt) -> bool:
    """Whether a statement raises, or calls what ends the program."""
    return isinstance(node, ast.Raise) or _called(node) in _ENDS


def only_says(handler: ast.ExceptHandler) -> bool:
    """Whether ``handler`` does nothing about the error, but say that there was one: `except Exception as e: print(e)`."""
    return all(_called(each) in _SAYS | _LOGS for each in handler.body)


def providing(handlers: Sequence[ast.ExceptHandler]) -> list[ast.ExceptHandler]:
    """Those of ``handlers`` after which the program goes on."""
    return [each for each in handlers if not gives_up(each)]


def _called(node: ast.stmt) -> str:
    """The last name of what a statement calls; '' where it is no call."""
    function = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
