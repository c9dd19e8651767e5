"""Arguments for a constructor that takes any number of them and unpacks them: `def __init__(self, *args): sizes, kind = args`."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed
from ..errors.failing_lines import failing_line
from ..terms.arguments import Argument, Arguments
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

MOST = 12


def with_all_unpacked(
    candidate: Candidate, error: BaseException, function: Any, guess: Callable[[str, Unknowns], Argument]
) -> Iterator[Candidate]:
    """The candidate with an argument for each name that the failing line gives to one of any number, or for the index that it lacks."""
    parameters = attempted(lambda: list(inspect.signature(function).parameters.values())) or []
    taken = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "")
    names = _unpacked(failing_line(error), taken) if taken and isinstance(error, (ValueError, IndexError)) else []
    if not names or len(names) > MOST:
        return
    before = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unknowns, known = copy.deepcopy(candidate.unknowns), dict(candidate.arguments.named)
    unnamed = [each for each in candidate.arguments.positional if each not in before]
    first = [name for name in before if name in known]
    more = {name: known[name] if name in unnamed else guess(name, unknowns) for name in names if name not in first}
    rest = {name: value for name, value in known.items() if name not in unnamed}
    yield Candidate(Arguments(tuple({**rest, **more}.items()), (*first, *more)), unknowns)


def _unpacked(line: str, taken: str) -> list[str]:
    """The names that ``line`` gives to the items of ``taken``; as many as the index that it takes needs."""
    statement = next(iter(getattr(parsed(line), "body", ())), None)
    if not isinstance(statement, ast.Assign):
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, (ast.Tuple, ast.List)) and _name(value) == taken:
        return [_name(each) or f"{taken}_{index}" for index, each in enumerate(target.elts)]
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript) and _name(node.value) == taken and isinstance(node.slice, ast.Constant):
            index = node.slice.value
            if isinstance(index, int) and index >= 0:
                return [*(f"{taken}_{number}" for number in range(index)), _name(target) or f"{taken}_{index}"]
    return []


def _name(node: ast.expr) -> str:
    """``width`` for `width` and `self.width`."""
    return str(getattr(node, "attr", getattr(node, "id", ""))).strip("_")
