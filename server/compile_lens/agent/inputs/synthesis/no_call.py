"""Tells of an error that no arguments avoid: the code itself names what is not there."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

from ...runtime.entry_protocol import NEVER_SET, NOT_IMPORTED, NOT_PASSED, OTHER_VERSION, UNDEFINED_NAME
from ...runtime.foreign_code import part_of
from ..importing.absent import NeedsAbsent
from ..importing.moved_stand_ins import is_asked_for, lacked_attribute
from .errors.certain_errors import is_certain
from .errors.failed_conditions import source_tree
from .errors.failing_lines import innermost
from .errors.lacking_arguments import lacking_names
from .project.own_attributes import is_never_set


def no_call_returns(error: BaseException | None) -> str:
    """Why no call returns, whatever is passed; '' where another one may.

    An attribute of a module that stands in the failing line is one that the installed version lacks: what is looked up by its name,
    as by ``getattr(torch.nn, kind)``, depends on an argument.
    """
    if type(error) is NameError:
        return UNDEFINED_NAME if is_certain(error, error.name or "") else ""
    if isinstance(error, AttributeError):
        owner, name = lacked_attribute(error)
        if isinstance(owner, ModuleType):
            return OTHER_VERSION if is_asked_for(name, error) and is_certain(error, name) else ""
        return NEVER_SET if is_never_set(owner, name, error) else ""
    cause = error.cause if isinstance(error, NeedsAbsent) else error
    if isinstance(cause, ImportError) and error is not None:
        return NOT_IMPORTED if is_certain(error) else ""
    return NOT_PASSED if isinstance(error, TypeError) and _is_never_passed(error) and is_certain(error) else ""


def _is_never_passed(error: TypeError) -> bool:
    """Whether the code itself writes a call of a function or a class of its module without what that requires: nothing is unpacked into
    it, and no argument decides what is called."""
    frame, line = innermost(error) if lacking_names(error) else (None, 0)
    tree = source_tree(frame)
    if frame is None or tree is None:
        return False
    row = line - frame.f_code.co_firstlineno + 1
    local = {*frame.f_code.co_varnames, *frame.f_code.co_cellvars, *frame.f_code.co_freevars}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        root, *path = ast.unparse(call.func).split(".")
        if root in local or not all(each.isidentifier() for each in (root, *path)):
            continue
        called = part_of(frame.f_globals.get(root), ".".join(path)) if path else frame.f_globals.get(root)
        makers = (".__init__", ".__new__") if isinstance(called, type) else ("",)
        named = getattr(called, "__qualname__", root)
        is_told = any(f"{named}{maker}() missing" in str(error) for maker in makers)
        is_here = call.lineno <= row <= (call.end_lineno or call.lineno)
        if is_here and is_told and (inspect.isfunction(called) or isinstance(called, type)):
            given = {keyword.arg for keyword in call.keywords}
            return None not in given and not any(isinstance(each, ast.Starred) for each in call.args)
    return False
