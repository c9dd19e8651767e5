"""Tells of an error that no arguments avoid: the code itself names what is not there."""

from __future__ import annotations

import re
from types import ModuleType

from ....runtime.entry_protocol import OTHER_VERSION, UNDEFINED_NAME
from .failing_lines import failing_line


def no_call_returns(error: BaseException | None) -> str:
    """Why no call returns, whatever is passed; '' where another one may.

    An attribute of a module that stands in the failing line is one that the installed version lacks: what is looked up by its name,
    as by ``getattr(torch.nn, kind)``, depends on an argument.
    """
    if type(error) is NameError:
        return UNDEFINED_NAME
    if isinstance(error, AttributeError) and isinstance(getattr(error, "obj", None), ModuleType):
        is_written = re.search(rf"\.\s*{re.escape(str(error.name))}\b", failing_line(error))
        return OTHER_VERSION if is_written else ""
    return ""
