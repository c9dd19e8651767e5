"""Completes the draft of a call with what its error is about: arguments that it leaves to their defaults, and the method that alone sets
what was not there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed
from ...torch_internals.attributes import original_function
from .drafts import OPEN, arguments_of
from .errors.blame import argument_names, call_in, construction_in, prepared_in
from .errors.origins import frames_of_program
from .errors.traced_back import SetByMethod
from .terms.parameter_info import ParameterInfo

# arguments that are added
MOST_ADDED = 3
MADE = "m"
MOST_TEXT = 60
# what one of these quotes is an attribute, a variable or a key
_OF_OTHER_NAMES = (AttributeError, NameError, KeyError)


def named_by(error: BaseException, names: Iterable[str]) -> list[str]:
    """Those of ``names`` that the text of ``error`` says: with an underscore, in quotes, or as `name=`. Others are words of a sentence."""
    text = str(error)
    found: dict[str, int] = {}
    for name in () if isinstance(error, _OF_OTHER_NAMES) else names:
        whole = re.escape(name)
        form = rf"(?<![\w.]){whole}(?!\w)" if "_" in name else rf"(['\"`]){whole}\1|(?<![\w.]){whole}=(?!=)"
        said = re.search(form, text)
        if said is not None:
            found[name] = said.start()
    return sorted(found, key=lambda name: found[name])


def with_arguments(draft: str, names: Iterable[str], constructor: Mapping[str, ParameterInfo]) -> str:
    """``draft`` with those arguments of the ``constructor`` that it lacks of ``names``, as they are by default."""
    lacking = [name for name in names if name in constructor and name not in argument_names(draft)][:MOST_ADDED]
    call = call_in(draft)
    made = construction_in(call) if call is not None and lacking else None
    if call is None or made is None:
        return draft
    for name in lacking:
        value = parsed(_text_of(constructor[name].default))
        statement = value.body[0] if value is not None and value.body else None
        if isinstance(statement, ast.Expr):
            made.keywords.append(ast.keyword(name, statement.value))
    return ast.unparse(call)


def with_method_first(module: ModuleType, draft: str, error: BaseException, first: SetByMethod) -> tuple[str, str]:
    """``draft`` with the method that comes ``first``, if it is one of the object itself, and what is to be said of it."""
    outermost = next((entry.tb_frame.f_locals.get("self") for entry in frames_of_program(error)), None)
    path = _path_to(first.owner, outermost)
    call = call_in(draft)
    made = construction_in(call) if call is not None else None
    if path is None or made is None or call is None or prepared_in(getattr(call, "func", call)) is not None:
        return draft, ""
    function = original_function(getattr(first.cls, first.method))
    step = f"{MADE}{path}.{first.method}({arguments_of(module, function, {}, skip_first=True)})"
    prepared = f"({MADE} := {ast.unparse(made)}, {step})[0]"
    completed = ast.unparse(call).replace(ast.unparse(made), prepared, 1)
    said = f"only `{first.method}()` sets `{first.attribute}`: call it first"
    if path:  # what is called of a part is not seen, so it is told and not offered as code
        return draft, f"{said}, as in `{completed}`"
    return completed, said


def _path_to(owner: Any, outermost: Any) -> str | None:
    """How ``owner`` is reached from the object that is called: '' for itself, `.net`; None where it is no part of it."""
    if owner is outermost:
        return ""
    parts = getattr(outermost, "named_modules", None)
    names = (name for name, part in (parts() if parts is not None else ()) if part is owner and name)
    found = next(names, "")
    return f".{found}" if found and all(each.isidentifier() for each in found.split(".")) else None


def _text_of(default: Any) -> str:
    text = attempted(lambda: repr(default)) or OPEN
    is_literal = default is None or attempted(lambda: ast.literal_eval(text)) is not None
    return text if is_literal and len(text) <= MOST_TEXT else OPEN
