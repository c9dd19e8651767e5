"""Writes a call from what the source alone says of its arguments, where no trial came to one: for the user to complete."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...runtime.entry_protocol import CallNotMade
from ...runtime.foreign_code import attempted
from ...torch_internals.attributes import original_function
from ..importing.module import find, written_outside
from .errors.certain_errors import is_of_project
from .guessing.argument_guesser import ArgumentGuesser
from .making.construction import as_text, first_construction
from .making.object_calls import first_inputs, known_argument
from .project.concrete_classes import is_abstract, method_instead
from .source.signatures import read_parameters
from .terms.arguments import Argument, Arguments, Expression
from .terms.candidate import Candidate
from .terms.dimensions import Unknowns
from .terms.parameter_info import ParameterInfo, positional_names

NO_MODULE = "its class is no module"
# an argument of which nothing is known
OPEN = "..."


def draft_of(module: ModuleType, qualified_name: str, given: Mapping[str, str], inputs: Mapping[str, str]) -> str:
    """A call of the class, method or function ``qualified_name``; '' where its signature cannot be read."""
    return attempted(lambda: _draft(module, qualified_name, given, inputs)) or ""


def _draft(module: ModuleType, qualified_name: str, given: Mapping[str, str], inputs: Mapping[str, str]) -> str:
    qualified_name = written_outside(qualified_name)
    subject = find(module, qualified_name)
    owner_name, _, method = qualified_name.rpartition(".")
    owner = find(module, owner_name) if owner_name else None
    if isinstance(subject, type):
        owner_name, owner, method = qualified_name, subject, method_instead(subject) or "forward"
    if isinstance(owner, type):
        making = first_construction(module, owner_name, owner, given)
        return f"{making}{inputs_of(module, owner, method, inputs)}"
    return f"{qualified_name}({arguments_of(module, original_function(subject), inputs, skip_first=False)})"


def plain_draft(module: ModuleType) -> CallNotMade | None:
    """A call of the class that does most, for a file that defines no module: such a class may keep one. None where there is no class."""
    import torch

    left_out = (BaseException, torch.nn.Module, torch.utils.data.Dataset)
    found: dict[str, tuple[bool, int, int]] = {}
    for name, cls in list(vars(module).items()):
        if isinstance(cls, type) and cls.__module__ == module.__name__ and not issubclass(cls, left_out):
            method = "__call__" if "__call__" in vars(cls) else method_instead(cls)
            code = getattr(getattr(cls, method, None), "__code__", None)
            if code is not None and not is_abstract(cls):
                # of classes that inherit from one another, the first one
                heirs = len(type.__subclasses__(cls))
                found[f"{name}.{method}"] = method == "__call__", heirs, len(code.co_code)
    path = max(found, key=lambda name: found[name], default="")
    draft = draft_of(module, path, {}, {}) if path else ""
    return CallNotMade(path, NO_MODULE, draft) if draft else None


def inputs_of(module: ModuleType, cls: type, method: str, inputs: Mapping[str, str]) -> str:
    """The second half of a call, of ``method`` of an object of ``cls``: what the signature says of the inputs."""
    function = getattr(cls, method, None)
    if function is None:
        return ""
    is_usual = method == "__call__" or (method == "forward" and not _is_called_otherwise(cls))
    suffix = "" if is_usual else f".{method}"
    return f"{suffix}({arguments_of(module, original_function(function), inputs, skip_first=True)})"


def _is_called_otherwise(cls: type) -> bool:
    """Whether a call of an object is one of a library's own, which may run ``forward`` later or never, as that of a lazy kernel does."""
    owner = next((base for base in cls.__mro__ if "__call__" in vars(base)), cls)
    file = str(getattr(sys.modules.get(owner.__module__), "__file__", None) or "")
    return owner.__module__.partition(".")[0] != "torch" and bool(file) and not is_of_project(file)


def arguments_of(module: ModuleType, function: Any, inputs: Mapping[str, str], skip_first: bool) -> str:
    """The arguments of a call of ``function``, as its signature shows them."""
    infos = read_parameters(function, skip_first=skip_first)
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    first = first_inputs(infos, None, inputs)
    named = tuple((info.name, known_argument(info, inputs) or _guess(guesser, info)) for info in first)
    return as_text(Candidate(Arguments(named, positional_names(infos)), unknowns))


def _guess(guesser: ArgumentGuesser, info: ParameterInfo) -> Argument:
    # an annotation may be any object; a call with one open argument says more than none
    return attempted(lambda: guesser.for_input(info, None)) or Expression(OPEN)
