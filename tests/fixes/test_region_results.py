"""Results of two runs, compared: what is equal, what is close enough, and what cannot be compared."""

from __future__ import annotations

from typing import Any

from compile_lens.fixes.results import compare_results
from compile_lens.trace.region_results import RegionResult, ResultValue


def tensor(*numbers: float, **others: Any) -> ResultValue:
    facts: dict[str, Any] = {
        "dtype": "torch.float32",
        "shape": (len(numbers),),
        "digest": str(numbers),
        "is_whole": True,
    }
    return ResultValue("tensor", numbers=numbers, **{**facts, **others})


def call(*values: ResultValue, name: str = "f", changed: tuple[ResultValue, ...] = ()) -> RegionResult:
    return RegionResult(name, values, changed)


END = RegionResult("", (), ())


def compared(one: RegionResult, other: RegionResult) -> tuple[bool | None, str]:
    found = compare_results([one, END], [other, END])
    return found.equal, found.words()


def test_equal_and_almost_equal_numbers() -> None:
    assert compared(call(tensor(1.0, 2.0)), call(tensor(1.0, 2.0))) == (True, "results equal")
    assert compared(call(tensor(1.0, 2.0)), call(tensor(1.0, 2.0 + 1e-6))) == (True, "results equal within 1e-06")
    nan = float("nan")
    assert compared(call(tensor(nan)), call(tensor(nan, digest="other")))[0]


def test_what_differs_is_named() -> None:
    one = call(tensor(1.0, 2.0))
    assert compared(one, call(tensor(1.0, 2.5))) == (False, "results differ: call 1 of `f`: by up to 0.5")
    assert compared(one, call(tensor(1.0))) == (False, "results differ: call 1 of `f`: float32[2] became float32[1]")
    assert compared(one, call(tensor(1.0, 2.0, requires_grad=True)))[1].endswith("gradients flow differently")
    assert compared(one, call(ResultValue("float", "1.0")))[1].endswith("tensor became float")
    assert compared(one, call(tensor(1.0, float("inf"))))[0] is False
    assert compared(one, call(tensor(1.0, 2.0), changed=(tensor(1.0),)))[1].endswith("has a different number of values")
    assert compared(call(tensor(1, dtype="torch.int64")), call(tensor(2, dtype="torch.int64")))[0] is False


def test_what_cannot_be_compared_is_not_called_equal() -> None:
    assert compared(call(tensor(1.0)), call(tensor(1.0), name="g")) == (
        None,
        "results not compared: different regions are called",
    )
    assert compare_results([], [END]).equal is None
    assert compare_results([END], [END]).why == "no compiled call returned"


def test_a_function_that_was_split_returns_what_it_did() -> None:
    expected = [call(tensor(3.0)), END]
    got = [call(tensor(1.0), name="f_before"), call(tensor(3.0), name="f_after"), END]
    assert compare_results(expected, got).equal
    assert compare_results(expected, [got[0], call(tensor(4.0), name="f_after"), END]).equal is False
