"""Arguments that do not agree with the annotation of a function which they are passed on to: it says more than the constructor does."""

from __future__ import annotations

import ast
import copy
import typing
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ....runtime.foreign_code import attempted
from ..errors.failed_conditions import source_tree
from ..errors.lacking_object import paths_of
from ..errors.passed_names import outermost_name
from ..terms.arguments import Argument
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

_RAISED = (TypeError, AttributeError, KeyError, IndexError, ValueError, AssertionError)
MOST = 4


def with_annotated_values(
    candidate: Candidate, error: BaseException, make: Callable[[str, Any, Unknowns], Argument]
) -> Iterator[Candidate]:
    """Candidates in which one argument is what a function that failed says of it: that of the innermost one first.

    ``make`` gives an argument for a name and a hint.
    """
    names = dict(candidate.arguments.named)
    tried: set[str] = set()
    for frame in _frames(error) if isinstance(error, _RAISED) else ():
        for name, hint in _annotated(frame):
            value = frame.f_locals.get(name)
            if value is None or _agrees(value, hint):
                continue
            alias = outermost_name(error, frame, name)
            for path in paths_of(value, error, names) or [alias] * (alias in names):
                if path not in tried and len(tried) < MOST:
                    tried.add(path)
                    unknowns = copy.deepcopy(candidate.unknowns)
                    yield Candidate(candidate.arguments.with_argument(path, make(name, hint, unknowns)), unknowns)


def _frames(error: BaseException) -> list[FrameType]:
    """The frames of a call that failed, the innermost first."""
    found: list[FrameType] = []
    entry = error.__traceback__
    while entry is not None:
        found.insert(0, entry.tb_frame)
        entry = entry.tb_next
    return [
        frame for frame in found if not str(frame.f_globals.get("__name__")).startswith(("torch.", "_compile_lens"))
    ]


def _annotated(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The parameters of the function of ``frame`` that have an annotation, and what it means."""
    tree = source_tree(frame)
    function = next((each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)), None) if tree else None
    for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs) if function else ():
        written = each.annotation
        if written is None:
            continue
        text = written.value if isinstance(written, ast.Constant) else ast.unparse(written)
        hint = attempted(lambda text=text: eval(str(text), frame.f_globals))  # type: ignore[misc]
        if hint is not None:
            yield each.arg, hint


def _agrees(value: Any, hint: Any) -> bool:
    """Whether ``value`` may be what ``hint`` says; where that cannot be told, it may."""
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint) or hint
    if not isinstance(origin, type):
        return not arguments or any(_agrees(value, each) for each in arguments if each is not type(None))
    if origin is float and isinstance(value, int):
        return True
    return attempted(lambda: isinstance(value, origin)) is not False
