"""Compares what two runs of almost the same program computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from compile_lens.fixes.gradients import differing_gradients, type_words
from compile_lens.trace.region_results import RegionResult, ResultValue

# by how much of a tensor's largest number another order of operations may change it
TOLERANCES = {
    "float64": 1e-7,
    "complex128": 1e-7,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 1e-2,
    "bfloat16": 2e-2,
}


@dataclass(frozen=True, slots=True)
class ResultsCompared:
    """``equal`` is None where the results could not be compared, and ``why`` says why; else ``why`` says what differs.

    ``difference`` is the largest absolute one of ``values`` values that were compared; ``is_estimate``: not all numbers were.
    """

    equal: bool | None
    why: str = ""
    difference: float = 0.0
    values: int = 0
    is_estimate: bool = False

    def words(self) -> str:
        """A clause for the title of a fix."""
        if self.equal is None:
            return f"results not compared: {self.why}"
        if not self.equal:
            return f"results differ: {self.why}"
        return "results equal" if not self.difference else f"results equal within {self.difference:.1g}"


def compare_results(expected: Sequence[RegionResult], got: Sequence[RegionResult]) -> ResultsCompared:
    """How ``got`` compares with ``expected``, call by call, and backward by backward."""
    backwards, other_backwards = ([each for each in side if each.is_backward] for side in (expected, got))
    total = _compare_calls(*([each for each in side if not each.is_backward] for side in (expected, got)))
    if not total.equal:
        return total
    if len(backwards) != len(other_backwards):
        return ResultsCompared(None, "backward runs elsewhere")
    for number, (one, other) in enumerate(zip(backwards, other_backwards, strict=True), 1):
        differs = differing_gradients(one.values, other.values)
        if differs:
            return ResultsCompared(False, f"a gradient of backward {number}: {differs}")
    return total


def _compare_calls(expected: Sequence[RegionResult], got: Sequence[RegionResult]) -> ResultsCompared:
    calls = [result for result in expected if result.name]
    others = [result for result in got if result.name]
    if not expected or not got:
        return ResultsCompared(None, "the run has none")
    if not calls and not any(result.values for result in expected):
        return ResultsCompared(None, "no compiled call returned")
    if [result.name for result in calls] != [result.name for result in others]:
        got, expected = _of_split(got), [replace(result, changed=()) for result in expected]
        if [result.name for result in calls] != [result.name for result in got if result.name]:
            return ResultsCompared(None, "different regions are called")
    total = ResultsCompared(True)
    for number, (one, other) in enumerate(zip(expected, got, strict=False), 1):
        where = f"call {number} of `{one.name}`" if one.name else "parameters or gradients"
        for wanted, found in ((one.values, other.values), (one.changed, other.changed)):
            if len(wanted) != len(found):
                return ResultsCompared(False, f"{where} has a different number of values")
            for value, now in zip(wanted, found, strict=True):
                compared = _compare(value, now)
                if not compared.equal:
                    return ResultsCompared(compared.equal, f"{where}: {compared.why}", compared.difference)
                total = ResultsCompared(
                    True,
                    "",
                    max(total.difference, compared.difference),
                    total.values + 1,
                    total.is_estimate or compared.is_estimate,
                )
    return total


def _of_split(got: Sequence[RegionResult]) -> list[RegionResult]:
    """The results of a program whose function ``f`` was split: what ``f_after`` returns is what ``f`` returned."""
    last = [result for result in got if not result.name.endswith("_before")]
    return [replace(result, name=result.name.removesuffix("_after"), changed=()) for result in last]


def _compare(one: ResultValue, other: ResultValue) -> ResultsCompared:
    if one.kind != other.kind:
        return ResultsCompared(False, f"{one.kind} became {other.kind}")
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return ResultsCompared(False, f"{type_words(one)} became {type_words(other)}")
    if one.requires_grad != other.requires_grad:
        return ResultsCompared(False, "gradients flow differently")
    if one.digest == other.digest and one.text == other.text:
        return ResultsCompared(True)
    if one.text or other.text or one.numbers is None or other.numbers is None:
        return ResultsCompared(False, f"{one.text or 'a value'} became {other.text or 'another'}")
    return _numbers(one, other, one.numbers, other.numbers)


def _numbers(one: ResultValue, other: ResultValue, wanted: Sequence[float], found: Sequence[float]) -> ResultsCompared:
    off = 0.0
    for number, now in zip(wanted, found, strict=True):
        if number == now or (math.isnan(number) and math.isnan(now)):
            continue
        if not (math.isfinite(number) and math.isfinite(now)):
            return ResultsCompared(False, f"{number:g} became {now:g}")
        off = max(off, abs(number - now))
    largest = max((abs(number) for number in wanted if math.isfinite(number)), default=0.0)
    tolerance = TOLERANCES.get(one.dtype.removeprefix("torch."), 0.0)
    equal = off <= tolerance * max(largest, tolerance)
    return ResultsCompared(equal, "" if equal else f"by up to {off:.2g}", off, 1, not one.is_whole)
