"""Arguments for what takes any number of them and unpacks or counts them: `def forward(self, *inputs): tokens, mask = inputs`."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed
from ..errors.failing_lines import failing_line
from ..terms.arguments import Argument, Arguments
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

MOST = 12
_COUNTED = re.compile(
    r"\b(?:expect(?:s|ed)?|requires?|needs?|takes|must be)\b.{0,24}?\b(?P<count>\d|two|three|four|five)\b"
    r" (?:\w+ )?(?:inputs?|arguments?|args|tensors?)\b"
    r"|\bnumber of (?:inputs|arguments|tensors) (?:must|should|has to) be (?P<number>\d)\b",
    re.I,
)
_OF_COUNTS = (ValueError, IndexError, TypeError, AssertionError, RuntimeError)
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}


def with_all_unpacked(
    candidate: Candidate, error: BaseException, function: Any, guess: Callable[[str, Unknowns], Argument]
) -> Iterator[Candidate]:
    """The candidate with an argument for each name that the failing line gives to one of any number, or for the index that it lacks; with
    as many as the line or the error says."""
    parameters = attempted(lambda: list(inspect.signature(function).parameters.values())) or []
    taken = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "")
    if not taken or not isinstance(error, _OF_COUNTS):
        return
    names = _unpacked(failing_line(error), taken) if isinstance(error, (ValueError, IndexError)) else []
    names = names or _counted(error, taken)
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


def _counted(error: BaseException, taken: str) -> list[str]:
    """A name for each of as many as the failing line compares their number with (`assert len(inputs) == 3`), or as the message says."""
    asserted = re.search(rf"\blen\({re.escape(taken)}\)\s*(?:==|!=|>=|<)\s*(\d)\b", failing_line(error))
    told = _COUNTED.search(str(error))
    word = (
        asserted[1] if asserted is not None else (told["count"] or told["number"]).lower() if told is not None else ""
    )
    count = _NUMBERS.get(word, int(word) if word.isdecimal() else 0)
    return [f"{taken}_{index}" for index in range(count)]


def _name(node: ast.expr) -> str:
    """``width`` for `width` and `self.width`."""
    return str(getattr(node, "attr", getattr(node, "id", ""))).strip("_")
