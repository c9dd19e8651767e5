"""What torch's operators require in words of their own: ranks, sizes that must be equal or divisible, dtypes.

The words are those of torch 2.6 to 2.13, of real tensors and of those without memory, which some operators refuse in other words
(torch/_refs, torch/_meta_registrations.py). ``tests/entries/operator_errors.py`` makes them with wrong inputs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from ..terms.requirement import Requirement

# in a shape, with or without the name of its class
_SHAPE = r"(?:torch\.Size\()?[\[(](?P<{}>[\d, ]+)[\])]"
_RANKS = (
    re.compile(r"(\d)D or (\d)D (?:\(batch mode\) )?(?:target )?[Tt]ensors?\b"),
    re.compile(r"Expected (\d) to (\d) dimensions, but got \d-dimensional"),
    re.compile(r"mode needs (\d)D input"),
    re.compile(r"\b(?:has to )?be a (\d)D [Tt]ensor"),
    re.compile(r"Expected (\d)-D argument"),
    re.compile(r"(?:must|should) be (\d) dim"),
    re.compile(r"must be (\d) or (\d)(?: dim|, but got \d)"),
    re.compile(r"spatial targets supported \((\d)D tensors\)"),
    re.compile(r"have (\d) or fewer dimensions"),
    re.compile(r"with <= (\d) dimensions"),
    re.compile(r"same number of dimensions, but got(?:: anchor)? (\d)(?:D, positive| dimensions for \w+, and) (\d)"),
    re.compile(r"if input is (\d)D, then offsets has to be None()"),
)
_RANKS_IN_WORDS = (
    (
        re.compile(r"must be a one-dimensional|Expect a 1D vector|matrix @ vector expected|must be of size batch_size"),
        1,
    ),
    (re.compile(r"mat\d must be a matrix|expected a matrix, but got|For 1D input, 1D target must have size 1"), 2),
)
_SIZES = (
    re.compile(r"got (?P<got>\d+) but expected (?P<want>\d+)"),
    re.compile(r"to have size (?P<want>\d+) in last dimension, but got grid with sizes .*?(?P<got>\d+)\]"),
    re.compile(r"= (?P<want>\d+), but got [\w.]+\(-?\d\)=(?P<got>\d+)"),
    re.compile(r"\bto be (?P<want>\d+),? but got (?P<got>\d+)"),
    re.compile(r"Found parameter numbers = (?P<want>\d+) and channel size = (?P<got>\d+)"),
    re.compile(r"for all (?P<want>\d+) classes or no classes but got weight tensor of shape: .*?\[(?P<got>\d+)\]"),
    re.compile(r"must have length (?P<want>\d+)\. Got (?P<got>\d+) and \d+"),
    re.compile(r"vector of size equal to .* weight of shape \[(?P<want>\d+)\] and input of shape \[\d+, (?P<got>\d+)"),
    re.compile(r"\(\d+x(?P<want>\d+)\), vec \((?P<got>\d+)\)"),
    re.compile(r"dimension \d+ is size (?P<got>\d*[13579])(?P<want>)$"),
)
# either side may be the wrong one
_EQUAL = (
    re.compile(r"batch[_ ]size \(?(\d+)\)? (?:to match|doesn't match) (?:target|hidden\w*) batch[_ ]size \(?(\d+)\)?"),
    re.compile(r"expected tensor \[(\d+)\] and src \[(\d+)\] to have the ?same number"),
    re.compile(r"same number of columns\. X1: (\d+) X2: (\d+)"),
    re.compile(r"first has size (\d+) in dim -?\d+ and second has size (\d+)"),
    re.compile(r"\.size\(0\) = (\d+) and input\.size\(0\) = (\d+)"),
    re.compile(r"they are (\d+) by (\d+) matrices"),
)
_TARGET = re.compile(r"Expected target size \[(?P<one>[\d, ]+)\], got \[(?P<other>[\d, ]+)\]")
_EQUAL_SHAPES = (
    _TARGET,
    re.compile(r"dimensions of batch2 tensor to be: \[(?P<one>[\d, ]+)\] but got: \[(?P<other>[\d, ]+)\]"),
    re.compile(r"same batch size, but got input with sizes \[(?P<one>\d+).* and grid with sizes \[(?P<other>\d+)"),
    re.compile(rf"inconsistent target size: {_SHAPE.format('one')}\)? for input of size: {_SHAPE.format('other')}"),
)
_BROADCAST = re.compile(
    rf"broadcast a dimension of length (?P<got>\d+) at (?P<at>-\d+)!.*?broadcastable to {_SHAPE.format('to')}"
)
_NORMALIZED = re.compile(
    rf"expected input with shape \[(?:\*,? ?)?(?P<want>[\d, ]+)\], but got input of size ?{_SHAPE.format('got')}"
)
_PIXELS = re.compile(r"size mismatch \(got input: \[(?P<scores>[\d, ]+)\] ?, target: \[(?P<labels>[\d, ]+)\]")
# a number, and the factors of what divides it
_DIVISIBLE = (
    re.compile(
        r"divisible by the product of kernel_size, but got \S+? ?= ?(?P<got>\d+) and kernel_size=[\[(](?P<by>[\d, ]+)[\])]"
    ),
    re.compile(r"channels must be divisible by groups\. Got (?P<got>\d+) channels and (?P<by>\d+)"),
    re.compile(r"divisible by num_groups, but got input of shape \[\d+, (?P<got>\d+).*\] and num_groups=(?P<by>\d+)"),
    re.compile(r"weight to be divisible by (?P<by>\d+) at dimension 0, but got weight of size \[\[(?P<got>\d+)"),
)
_PRODUCTS = (
    re.compile(r"Provided sizes \[(?P<parts>[\d, ]+)\] don't multiply up to the size of dim \d+ \((?P<got>\d+)\)"),
)
_SUMS = (re.compile(r"sum exactly to (?P<got>\d+) .*split_sizes=\[(?P<parts>[\d, ]+)\]"),)
_AT_LEAST = re.compile(r"to have size at least (?P<want>\d+) at dimension \d+, but got size (?P<got>\d+)")
_LARGER = re.compile(
    r"wrapping around more than once|too large relative to|not in range for dimension|selected number k out of range"
    r"|expected 0 < n_fft <|Invalid number of data points|cannot sample n_sample >|to be at least edge_order"
)
_LENGTHS = re.compile(r"_lengths to have value at most|_lengths must be of size batch_size")
_DTYPES = (
    (
        re.compile(
            r"offsets to be long or int|\bmust be integral\b|target dtype to be Long|non-negative integral inputs"
        ),
        "int64",
    ),
    (
        re.compile(
            r"a floating point or complex|dtype must be a floating point|tensor of floating point|either float or double dtype"
            r"|Found dtype (?:Long|Int|Bool) but expected Float|Double tensors but got \w+ and (?:Long|Int)"
            r"|got dtype (?:long int|int|torch\.int\d+)|not implemented for 'torch\.(?:int\d+|bool)'"
        ),
        "float32",
    ),
    (
        re.compile(
            r"to be a boolean tensor|predicate to be bool|only implemented on integer and Boolean"
            r"|\"bitwise_\w+\" not implemented for 'Float'"
        ),
        "bool",
    ),
)


def of_operators(text: str) -> Iterator[Requirement]:
    """What the words of an operator require, the most definite first."""
    yield from (Requirement("dtype", dtype) for pattern, dtype in _DTYPES if pattern.search(text))
    if _LARGER.search(text):
        yield Requirement("larger", "")
    if _LENGTHS.search(text):
        yield Requirement("positive", "")
    for pattern in _RANKS:
        match = pattern.search(text)
        ranks = [rank for rank in match.groups() if rank and rank != "0"] if match is not None else []
        # the last one is the batched rank
        yield from (Requirement("rank", rank) for rank in reversed(ranks))
    yield from (Requirement("rank", str(rank)) for pattern, rank in _RANKS_IN_WORDS if pattern.search(text))
    match = _TARGET.search(text)
    if match is not None and len(_numbers(match["one"])) != len(_numbers(match["other"])):
        yield Requirement("rank", str(len(_numbers(match["one"]))))
    for got, want in _sizes(text):
        if got != want and want > 0:
            yield Requirement("size", f"{got} {want}")
    match = _AT_LEAST.search(text)
    if match is not None:
        yield Requirement("bound", f"{match['got']} {match['want']}")


def _sizes(text: str) -> Iterator[tuple[int, int]]:
    """Sizes that are, and that have to be."""
    for pattern in _SIZES:
        match = pattern.search(text)
        if match is not None:
            yield int(match["got"]), int(match["want"] or int(match["got"]) + 1)
    for pattern in _EQUAL:
        match = pattern.search(text)
        if match is not None:
            yield from _either(int(match[1]), int(match[2]))
    for pattern in _EQUAL_SHAPES:
        match = pattern.search(text)
        for one, other in (
            zip(_numbers(match["one"]), _numbers(match["other"]), strict=False) if match is not None else ()
        ):
            yield from _either(one, other)
    match = _BROADCAST.search(text)
    if match is not None and len(_numbers(match["to"])) >= -int(match["at"]):
        yield from _either(int(match["got"]), _numbers(match["to"])[int(match["at"])])
    match = _NORMALIZED.search(text)
    if match is not None:
        yield from zip(reversed(_numbers(match["got"])), reversed(_numbers(match["want"])), strict=False)
    match = _PIXELS.search(text)
    if match is not None:
        scores = _numbers(match["scores"])
        yield from zip(_numbers(match["labels"]), (scores[0], *scores[2:]), strict=False)
    yield from _multiples(text)


def _multiples(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _DIVISIBLE:
        match = pattern.search(text)
        if match is not None:
            divisor = max(math.prod(_numbers(match["by"])), 1)
            yield int(match["got"]), (int(match["got"]) // divisor + 1) * divisor
    joined: tuple[tuple[tuple[re.Pattern[str], ...], Callable[[list[int]], int]], ...] = (
        (_PRODUCTS, math.prod),
        (_SUMS, sum),
    )
    for patterns, joins in joined:
        for pattern in patterns:
            match = pattern.search(text)
            if match is not None:
                yield int(match["got"]), joins(_numbers(match["parts"]))


def _either(one: int, other: int) -> Iterator[tuple[int, int]]:
    yield other, one
    yield one, other


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]
