"""Tensors with the numbers that a program demands: rows that sum to one, ascending times, unit vectors, symmetric matrices, flags.

What is demanded is in the words of the error, else in the condition that the program raised for: where that computes a truth of a
tensor's numbers, all forms are tried, and the call decides.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ....runtime.parsed_source import parsed_source_of
from ..errors.failed_conditions import conditions
from ..errors.failing_lines import innermost
from ..terms.arguments import INSIDE, Arguments, Expression, Group, Tensor, UnknownInteger
from ..terms.candidate import Candidate
from ..terms.tensor_contents import LEAST_RANK
from .number_ranges import leading_to

_ONE = r"(?:1(?:\.0*)?|one|unity)\b"
# what numbers are demanded to be, and the words for it
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "rows",
        re.compile(
            rf"\bsum(?:s|med)? (?:up )?(?:over .{{0,30}})?(?:to|equal) {_ONE}|\bSimplex\b|\bprobabilit(?:y|ies)\b"
            rf"|\badd(?:s)? up to {_ONE}|\bstochastic\b",
            re.I,
        ),
    ),
    ("ascending", re.compile(r"\b(?:increasing|ascending|sorted|monoton\w+|chronological)\b", re.I)),
    (
        "identity",
        re.compile(
            r"positive[- ](?:semi-?)?definite|PositiveDefinite|Cholesky|\bsymmetric|\borthogonal|\borthonormal|\bunitary\b"
            r"|\brotation|\binvertible|\bsingular\b|\bSO\(\d\)",
            re.I,
        ),
    ),
    ("zeros", re.compile(r"\bzero diagonals?\b|\bdiagonals? .{0,24}\bzeros?\b", re.I)),
    ("unit", re.compile(r"\bunit[- ](?:length|norm|vector|quaternion|sphere)|\bnormali[sz]ed\b|\bnorms?\b", re.I)),
    ("permutation", re.compile(r"\bpermutations?\b", re.I)),
    (
        "flags",
        re.compile(r"\bbinary\b|\bBoolean\(\)|\b0(?:\.0)?s? (?:or|and) 1(?:\.0)?s?\b|\bzeros and ones\b", re.I),
    ),
    (
        "fractions",
        re.compile(
            r"\bnon-?negative\b|\b(?:cannot|can't|must not|may not) be negative\b|\bnegative (?:entr|values?|weights?|elements?)"
            r"|(?:>=?|to be) 0(?:\.0)?\b|lower_bound=0|\b(?:strictly |all )positive\b",
            re.I,
        ),
    ),
)
# of a condition: they make one truth of many numbers
_OF_ALL_NUMBERS = frozenset(
    ["any", "all", "allclose", "isclose", "equal", "array_equal", "count_nonzero", "min", "max", "amin", "amax", "diff", "norm", "sum"]
)  # fmt: skip
_FORMS = ("fractions", "rows", "ascending", "flags", "unit", "identity", "permutation", "zeros")
_HALVES = (Expression("0.5"), Expression("0.5"))


def with_demanded_contents(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates whose tensors have the numbers that the error speaks of, or that its condition may want."""
    told = [form for form, pattern in _WORDS if pattern.search(str(error))]
    words = _words(error)
    forms = dict.fromkeys((*told, *(_FORMS if _is_of_numbers(error) else ())))
    for form in forms:
        suspects = _suspects(candidate, form, words)
        changed = {path: _formed(tensor, form) for path, tensor in suspects}
        if changed:
            yield _with(candidate, changed)
        for path in changed if len(changed) > 1 else ():
            yield _with(candidate, {path: changed[path]})
    if "rows" in told:
        yield from _with_shares(candidate, words)


def _words(error: BaseException) -> set[str]:
    """The names that a failed condition is about, and the words of the error."""
    frame, _ = innermost(error)
    names = {each.lower() for test, _ in conditions(error) for each in leading_to(test, frame)}
    return names | {word.lower() for word in re.findall(r"[A-Za-z_]\w*", str(error))}


def _is_of_numbers(error: BaseException) -> bool:
    """Whether the program raised for a condition on the numbers in a tensor, or on what it has computed of them: `low = x.min().item()`."""
    frame, _ = innermost(error)
    tests = [test for test, _ in conditions(error)]
    names = {node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)}
    tree = parsed_source_of(frame.f_code) if tests and frame is not None else None
    assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Assign)) if tree is not None else ()
    computed = [node.value for node in assigned if names & {getattr(each, "id", "") for each in node.targets}]
    called = (node for each in (*tests, *computed) for node in ast.walk(each) if isinstance(node, ast.Call))
    return any(getattr(each.func, "attr", getattr(each.func, "id", "")) in _OF_ALL_NUMBERS for each in called)


def _suspects(candidate: Candidate, form: str, words: set[str]) -> list[tuple[str, Tensor]]:
    """The tensors that may have to be of ``form``: those that the error names, else all."""
    able = [(path, each) for path, each in candidate.arguments.tensors() if _may_be(each, form)]
    named = [(path, each) for path, each in able if path.rpartition(INSIDE)[2].strip("_").lower() in words]
    return named or able


def _may_be(tensor: Tensor, form: str) -> bool:
    is_whole = tensor.dtype.startswith("int")
    if len(tensor.dims) < LEAST_RANK.get(form, 1) or not (is_whole or tensor.dtype.startswith("float")):
        return False
    if form == "permutation" and not is_whole:
        return False
    return form in ("permutation", "flags", "ascending", "zeros") if is_whole else True


def _formed(tensor: Tensor, form: str) -> Tensor:
    if form == "zeros":
        return replace(tensor, below=None, equal=0, contents="")
    if form == "fractions":
        return replace(tensor, below=1, equal=None, contents="")
    if form == "flags" and tensor.dtype.startswith("int"):
        return replace(tensor, below=2, equal=None, contents="")
    square = (*tensor.dims[:-1], tensor.dims[-2]) if form == "identity" else tensor.dims
    return replace(tensor, dims=square, below=None, equal=None, contents=form)


def _with_shares(candidate: Candidate, words: set[str]) -> Iterator[Candidate]:
    """Candidates in which a number, or a list of them, is two halves: shares that sum to one."""
    plain = [(path, each) for path, each in candidate.arguments.plain() if _is_number(each)]
    groups = [
        (path, each) for path, each in candidate.arguments.groups() if each.items and all(map(_is_number, each.items))
    ]
    for path, given in (*groups, *plain):
        if path.rpartition(INSIDE)[2].strip("_").lower() in words:
            is_list = given.is_list if isinstance(given, Group) else True
            arguments = candidate.arguments.with_argument(path, Group(_HALVES, is_list))
            yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def _is_number(argument: object) -> bool:
    if isinstance(argument, Expression):
        return re.fullmatch(r"-?\d+(?:\.\d+)?", argument.text) is not None
    return isinstance(argument, UnknownInteger)


def _with(candidate: Candidate, changed: dict[str, Tensor]) -> Candidate:
    arguments: Arguments = candidate.arguments
    for path, tensor in changed.items():
        arguments = arguments.with_argument(path, tensor)
    return Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
