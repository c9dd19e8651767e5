"""Puts what means the same in the place of a name that a library has removed, once a program has failed for the lack of it.

Nothing happens before the program itself has raised, and nothing handled that: one that finds what it asks for, or provides for its
absence, runs as without us. What it raised is told, since without us it comes no further.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ... import OWN_FOLDER
from ...runtime.entry_protocol import ImportHelped
from ...runtime.foreign_code import attempted
from ...runtime.libraries import library_roots
from ...runtime.message import AgentEvent
from ...runtime.moved_names import module_replacement, names_in, replacement
from ...runtime.parsed_source import parsed_expression
from ...runtime.raised import aside
from .absent import StubModule
from .as_written import runs_as_written
from .moved_functions import made

_CANNOT_IMPORT = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
# of functions that are there and raise (torch/_linalg_utils.py)
_REMOVED = re.compile(r"This function was deprecated since version [\d.]+ and is now removed")
# how what failed for the lack of a name is told
MOVED, LACKING = "moved", "lacking"


@dataclass(frozen=True)
class MovedName:
    """``value`` is in the place of ``name``, in whose place one writes ``instead``."""

    name: str
    instead: str
    value: Any


Tell = Callable[[AgentEvent], object]
_tell: Tell | None = None
_is_used = True
_standing: set[str] = set()
_told: set[str] = set()


def use_moved_names(are_used: bool) -> None:
    """Whether anything stands in for what was removed in this process."""
    global _is_used
    _is_used = are_used


def tell_to(tell: Tell) -> None:
    """Tell ``tell`` for what something stands in from now on, and what the program raised for the lack of it."""
    global _tell
    _tell = tell


@contextlib.contextmanager
def telling(tell: Tell) -> Iterator[None]:
    """Tell ``tell`` instead while the body runs."""
    global _tell
    before, _tell = _tell, tell
    try:
        yield
    finally:
        _tell = before


def stand_in_for(name: str) -> MovedName | None:
    """What means the same as the full name ``name``, which is not there; None where nothing is known, or that is not there either."""
    if not _is_used or runs_as_written():
        return None
    instead, _ = replacement(name)
    if instead:
        value = attempted(lambda: made(name) or _value(parsed_expression(instead)))
        return MovedName(name, instead, value) if value is not None else None
    renamed = module_replacement(name)
    module = attempted(lambda: importlib.import_module(renamed)) if renamed else None
    if module is None and names_in(name):
        module = _module_of_names(name)
    return MovedName(name, renamed, module) if module is not None else None


def stands_in_after(error: BaseException) -> bool:
    """Whether the program lacked a name in ``error``, and from now on has what means the same: what failed can be done again."""
    name = _lacked(error)
    found = stand_in_for(name) if name and name not in _standing else None
    if found is None:
        return False
    put(found.name, found.value)
    if _tell is not None:
        _tell(ImportHelped(found.name, instead=found.instead))
        _tell(aside(error, OWN_FOLDER, MOVED))
    return True


def tell_lack(error: BaseException) -> None:
    """Tell that the program raised ``error`` for the lack of a name that the installed version of a library does not have, and in whose
    place nothing stands. A module of the project may lack one because of what we have left out of it."""
    owner, name = lacked_attribute(error)
    if _tell is None or not isinstance(owner, ModuleType) or isinstance(owner, StubModule):
        return
    full = f"{owner.__name__}.{name}"
    if full not in _told and str(getattr(owner, "__file__", "")).startswith(library_roots()):
        _told.add(full)
        _tell(aside(error, OWN_FOLDER, LACKING))


def put_by_name(name: str) -> None:
    """Put in the place of ``name`` what another process has put there."""
    found = stand_in_for(name) if name not in _standing else None
    if found is not None:
        put(found.name, found.value)


def put(name: str, value: Any) -> None:
    """Have ``value`` be what ``name`` stands for in this process."""
    _standing.add(name)
    owner, _, last = name.rpartition(".")
    if isinstance(value, ModuleType):
        sys.modules[name] = value
    holder = sys.modules.get(owner)
    if holder is not None:
        setattr(holder, last, value)
    torch: Any = sys.modules.get("torch")
    if owner == "torch" and torch is not None and not isinstance(value, ModuleType):
        setattr(torch.Tensor, last, value)  # a method of the same name was removed with the function


def _lacked(error: BaseException) -> str:
    """The full name that the program asked for, and which is not there; '' for another error."""
    if isinstance(error, ModuleNotFoundError):
        return str(error.name or "")
    if isinstance(error, ImportError):
        match = _CANNOT_IMPORT.search(str(error))
        return f"{match[2]}.{match[1]}" if match is not None else ""
    if isinstance(error, AttributeError):
        return _lacked_of(*lacked_attribute(error), error)
    if isinstance(error, RuntimeError) and _REMOVED.match(str(error)):
        return _removed_function(error)
    return ""


def lacked_attribute(error: BaseException) -> tuple[Any, str]:
    """The object that lacks an attribute, and its name; None and '' where ``error`` does not say.

    A module's own `__getattr__` may raise it without (numpy 2.4 passes ``name=None``); what it was asked is in its frame.
    """
    owner, name = getattr(error, "obj", None), str(getattr(error, "name", None) or "")
    if owner is not None or not isinstance(error, AttributeError):
        return owner, name
    frame = next((each for each, _ in reversed([*traceback.walk_tb(error.__traceback__)])), None)
    if frame is None or not frame.f_code.co_varnames:
        return None, ""
    own = frame.f_globals.get("__getattr__")
    if getattr(own, "__code__", None) is not frame.f_code:
        return None, ""
    asked = frame.f_locals.get(frame.f_code.co_varnames[0])
    return sys.modules.get(str(frame.f_globals.get("__name__"))), asked if isinstance(asked, str) else ""


def _lacked_of(owner: Any, name: str, error: BaseException) -> str:
    if isinstance(owner, ModuleType):
        return f"{owner.__name__}.{name}" if is_asked_for(name, error) else ""
    torch: Any = sys.modules.get("torch")
    return f"torch.{name}" if torch is not None and isinstance(owner, torch.Tensor) else ""


def is_asked_for(name: str, error: BaseException) -> bool:
    """Whether the line that raised ``error`` asks for the attribute ``name`` of what the program has imported: in `getattr(np, kind)`
    and in `backend.kind`, it may be an argument of ours."""
    entries = [*traceback.walk_tb(error.__traceback__)]
    frames = [*traceback.extract_tb(error.__traceback__)]
    while frames and frames[-1].name == "__getattr__":  # the library's own, which says that it has no such name
        frames.pop()
    if not frames:
        return False
    code, first = entries[len(frames) - 1][0].f_code, frames[-1].lineno or 0
    # an expression may stand in several lines (Python 3.11 tells where it ends)
    last = getattr(frames[-1], "end_lineno", None) or first
    text = "".join(linecache.getline(frames[-1].filename, number) for number in range(first, last + 1))
    passed = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    roots = re.findall(rf"\b(\w+)(?:\s*\.\s*\w+)*?\s*\.\s*{re.escape(name)}\b", text)
    return any(root not in passed for root in roots)


def _removed_function(error: BaseException) -> str:
    """The function of torch's that raised ``error`` to say that it was removed."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    torch: Any = sys.modules.get("torch")
    if entry is None or torch is None:
        return ""
    name = entry.tb_frame.f_code.co_name.lstrip("_")
    code = getattr(vars(torch).get(name), "__code__", None)
    return f"torch.{name}" if code is entry.tb_frame.f_code else ""


def _module_of_names(name: str) -> ModuleType | None:
    """A module with what is known of one that is not there. One that is no part of another is stubbed with these names in it."""
    owner = name.rpartition(".")[0]
    if not owner or owner not in sys.modules:
        return None
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(known_names(name))
    return module


def known_names(module: str) -> dict[str, Any]:
    """What stands in for the names of ``module`` that mean the same elsewhere."""
    found = {name: stand_in_for(f"{module}.{name}") for name in names_in(module)}
    return {name: each.value for name, each in found.items() if each is not None}


def _value(node: ast.expr) -> Any:
    """What an expression of the table stands for. Raises where the installed versions have no such name."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand)
    return _named(ast.unparse(node))


def _named(dotted: str) -> Any:
    parts = dotted.split(".")
    if len(parts) == 1:
        return getattr(builtins, dotted)
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AttributeError(dotted)
