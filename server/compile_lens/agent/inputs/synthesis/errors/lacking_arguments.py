"""Knows the parameters that a call lacks from the function that it calls, where arguments are passed on: ``Inner(net=net, **kwargs)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from ....runtime.foreign_code import attempted
from ..source.signatures import read_parameters
from ..terms.parameter_info import ParameterInfo

_MISSING = re.compile(
    r"(?:(?P<function>[\w.<>]+)\(\) )?missing \d+ required (?:positional|keyword-only) arguments?: (?P<names>.*)"
)


def lacking_names(error: BaseException) -> tuple[str, ...]:
    """The names of the arguments that a call lacks, as Python says: ``f() missing 2 required positional arguments: 'a' and 'b'``."""
    match = _MISSING.search(str(error))
    return tuple(re.findall(r"'(\w+)'", match["names"])) if match is not None else ()


def lacking_parameters(error: BaseException) -> dict[str, ParameterInfo]:
    """What is known of the arguments that a call lacks, by name; empty where the function that it calls cannot be found."""
    match = _MISSING.search(str(error))
    names = lacking_names(error)
    called = (match["function"] if match is not None else None) or ""
    function = next(_functions_called(error, called), None) if called else None
    if function is None:
        return {}
    infos = read_parameters(function, skip_first="." in getattr(function, "__qualname__", ""))
    return {info.name: info for info in infos if info.name in names}


def _functions_called(error: BaseException, qualified_name: str) -> Iterator[Callable[..., Any]]:
    """Functions of this qualified name that the frame which raised can name: its variables, their classes, and those of its object."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None:
        return
    frame = entry.tb_frame
    method = qualified_name.rpartition(".")[2]
    for value in (*frame.f_locals.values(), *frame.f_globals.values()):
        if isinstance(value, FunctionType) and value.__qualname__ == qualified_name:
            yield value
        for base in attempted(type(value).mro if not isinstance(value, type) else value.mro) or ():
            found: Any = vars(base).get(method)
            if getattr(found, "__qualname__", None) == qualified_name:
                yield found
