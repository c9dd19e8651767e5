"""Tells of an error that no arguments avoid: the code itself names what is not there."""

from __future__ import annotations

from types import ModuleType

from ....runtime.entry_protocol import OTHER_VERSION, UNDEFINED_NAME
from ...importing.moved_stand_ins import is_asked_for, lacked_attribute


def no_call_returns(error: BaseException | None) -> str:
    """Why no call returns, whatever is passed; '' where another one may.

    An attribute of a module that stands in the failing line is one that the installed version lacks: what is looked up by its name,
    as by ``getattr(torch.nn, kind)``, depends on an argument.
    """
    if type(error) is NameError:
        return UNDEFINED_NAME
    if isinstance(error, AttributeError):
        owner, name = lacked_attribute(error)
        return OTHER_VERSION if isinstance(owner, ModuleType) and is_asked_for(name, error) else ""
    return ""
