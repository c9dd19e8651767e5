"""Candidates that may avoid the error of a call: what its message and its conditions on sizes require comes first."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from ....runtime.torchscript_errors import reason_of
from ..changes.demanded_contents import with_demanded_contents
from ..changes.demanded_values import with_demanded_values
from ..changes.equal_lengths import with_equal_lengths
from ..changes.flattened import with_rows_of_flattened
from ..changes.number_ranges import with_number_in_bounds
from ..changes.one_batch import with_one_batch
from ..changes.other_kinds import nearest_first, of_dtype, of_other_kinds
from ..changes.other_lengths import with_as_many_items, with_other_length
from ..changes.other_shapes import (
    OTHER_RANKS,
    alike,
    apart,
    larger,
    longer,
    of_further_slices,
    of_more_items,
    of_other_part,
    of_other_product,
    of_other_rank,
    of_own_part,
    of_rank,
    of_several,
    of_shape,
    own_name,
    with_values,
    without_columns,
)
from ..changes.other_values import (
    with_callable,
    with_function,
    with_other_value,
    with_small_model,
    with_text,
)
from ..changes.read_by_texts import with_all_read_by_texts
from ..changes.refused_lists import with_refused_lists
from ..changes.refused_members import with_name_of_part
from ..changes.refused_numbers import with_accepted_number, with_number_in_range, with_number_of_type
from ..changes.structures import as_graphs, with_keys_of_program, with_mentioned_keys, with_structure
from ..changes.unpacked_inputs import with_unpacked_inputs
from ..changes.values_that_leave_some import of_one_kind, with_full_masks
from ..errors.failing_lines import failing_line, names_of_none
from ..errors.lacking_arguments import lacking_names, lacking_parameters
from ..errors.messages import BEYOND, requirements
from ..errors.origins import Origins
from ..errors.unpacked_items import columns_unpacked, with_tuples
from ..terms.arguments import INSIDE, Argument, Arguments, Expression, Group, Tensor
from ..terms.call_problem import CallProblem
from ..terms.candidate import Candidate
from ..terms.dimensions import SizeCondition, by_relevance, solutions
from ..terms.requirement import Requirement

# `**kwargs` of the function
_OF_NAMED = re.compile(r"\bkw\w*\s*\[")
_TENSOR_WANTED = re.compile(
    r"'dict' object has no attribute '(?:shape|size|dim|ndim|dtype|device|view|reshape|split|transpose|permute|unsqueeze|float|long|to)'"
)
_NUMBER_WANTED = re.compile(r"must be tuple of (?:ints|SymInts), ?but (?:got|found element of type) ?(?:tuple|list)")
_STATES = re.compile(r"\bhx\b|\bhidden0\b|\bh_0\b")
_LABELS = re.compile(r"\btargets?\b(?: tensor expected|s? of dimension| size\b)|\boffsets\b")
_JOINED = re.compile(r"Sizes of tensors must match except in dimension")
_OF_INDICES = re.compile(r"too many indices|shape of the mask|shape mismatch: indexing")
MAX_CONDITIONS = 8


def next_candidates(
    problem: CallProblem,
    candidate: Candidate,
    error: Exception,
    conditions: tuple[SizeCondition, ...],
    end: float,
    probed: Callable[[], Iterator[Candidate]] = lambda: iter(()),
    probed_alone: Callable[[], Iterator[Candidate]] = lambda: iter(()),
) -> Iterator[Candidate]:
    """Candidates that may avoid an error: first what its message clearly requires, then its conditions on sizes, then other ranks.

    ``probed`` tries the call with other sizes, where nothing else tells what a size is made of; ``probed_alone`` with other sizes of one
    tensor alone.
    """
    if _TENSOR_WANTED.search(str(error)):
        return  # what reads keys of an argument and uses it as a tensor gets neither
    if _NUMBER_WANTED.search(str(error)) and any(isinstance(each, Group) for each in _everything(candidate)):
        # what became several numbers is one, and so is what an annotation says to be several
        if problem.guess is not None:
            yield from with_structure(candidate, Requirement("number", ""), error, problem.guess, problem.read)
        return
    wanted = list(dict.fromkeys(requirements(error)))
    origins = Origins(error)
    if problem.others is not None:
        yield from problem.others(candidate, error)
    for requirement in wanted:
        if requirement.kind == "key" and _OF_NAMED.search(failing_line(error)):
            yield from _satisfying(problem, candidate, Requirement("argument", requirement.value))
    yield from as_graphs(candidate, error)
    if problem.guess is not None:
        yield from with_all_read_by_texts(candidate, error, problem.guess)
        yield from with_unpacked_inputs(candidate, error, problem.guess)
        # what is looked up by a word that is passed is found by another word
        words = {each.text for _, each in candidate.arguments.plain() if isinstance(each, Expression)}
        for requirement in wanted:
            if requirement.kind == "key" and isinstance(error, KeyError) and repr(requirement.value) in words:
                continue
            if requirement.kind in ("attribute", "key", "several", "pair", "tensor", "number", "array", "square"):
                yield from with_structure(candidate, requirement, error, problem.guess, problem.read)
        yield from with_mentioned_keys(candidate, error, problem.guess)
        yield from with_keys_of_program(candidate, error)
    yield from with_equal_lengths(candidate, error)
    yield from with_rows_of_flattened(candidate, error)
    yield from with_one_batch(candidate, error)
    yield from with_tuples(candidate, error)
    yield from with_full_masks(candidate, error)
    if problem.make is not None:
        yield from with_demanded_values(candidate, error, problem.make, problem.guess, problem.read, problem.offer)
    for requirement in wanted:
        if requirement.kind in ("callable", "module"):
            yield from with_callable(candidate, requirement, error)
        elif requirement.kind == "function":
            yield from with_function(candidate, error)
    if any(w.kind == "fractions" for w in wanted):
        yield from _of_fractions(candidate)
    yield from with_demanded_contents(candidate, error)
    if any(w.kind == "positive" for w in wanted):
        yield from _of_lengths(candidate)
    if any(w.kind == "gradient" for w in wanted):
        yield from _with_gradients(candidate)
    yield from with_name_of_part(candidate, error)
    yield from with_text(candidate, error)
    yield from with_other_value(candidate, error)
    yield from with_number_of_type(candidate, error)
    yield from with_accepted_number(candidate, error)
    yield from with_number_in_range(candidate, error)
    yield from with_number_in_bounds(candidate, error)
    yield from with_refused_lists(candidate, error)
    yield from with_other_length(candidate, error)
    yield from with_as_many_items(candidate, error)
    yield from _with_all_that_it_lacks(problem, candidate, error)
    definite = [w for w in wanted if w.kind in ("no-argument", "argument", "mentioned", "dtype", "below")]
    if _OF_INDICES.search(str(error)) is not None:
        yield from without_columns(candidate)
    for requirement in wanted:
        if requirement.kind == "alike":
            yield from alike(candidate, requirement.value)
        elif requirement.kind == "shape":
            yield from of_shape(candidate, *requirement.value.split(" ", 1))
    for requirement in definite:
        yield from _satisfying(problem, candidate, requirement, error=error)
    for requirement in wanted:
        if requirement.kind == "more-dims":
            yield from of_other_rank(candidate, int(requirement.value), origins)
        elif requirement.kind == "batch":
            yield from of_several(candidate)
        elif requirement.kind == "items":
            yield from of_more_items(candidate, *map(int, requirement.value.split()))
    columns = columns_unpacked(error)
    if columns is not None:
        yield from _satisfying(problem, candidate, Requirement("size", "{} {}".format(*columns)), error=error)
    is_about_rank = any(w.kind == "rank" for w in wanted)
    if is_about_rank:
        ranks = [int(w.value) for w in wanted if w.kind == "rank"]
        is_of_states, is_of_labels = (pattern.search(str(error)) is not None for pattern in (_STATES, _LABELS))
        for rank in ranks:
            yield from of_rank(candidate, rank, False, is_of_states, is_of_labels, origins)
    for requirement in wanted:
        if requirement.kind == "bound":
            yield from _satisfying(problem, candidate, Requirement("size", requirement.value))
    if any(w.kind == "longer" for w in wanted):
        yield from longer(candidate)
    if any(w.kind == "larger" for w in wanted):
        yield from of_one_kind(candidate, error)
        yield from larger(candidate)
    yield from _with_as_many_as_indices(candidate, error)
    sizes = [tuple(map(int, w.value.split())) for w in wanted if w.kind == "size"]
    for got, want in sizes:
        if not got and want:
            yield from of_further_slices(candidate, want, origins)
    if any(got < want for got, want in sizes):
        yield from _with_one_more(problem, candidate, error)
    unmade = [(got, want) for got, want in sizes if got not in candidate.unknowns.values.values()]
    solved, unsolved = _by_conditions(candidate, conditions, end)
    is_of_ranks = any(w.kind in ("rank", "more-dims") for w in wanted)
    if unmade and not solved and not is_of_ranks:
        yield from probed()
    # a size of 1 agrees with every other one, and says nothing of what a program is for
    is_lost = bool(solved) and not any(_has_no_new_one(each, candidate) for each in solved)
    if unmade and is_lost and not is_of_ranks:
        yield from probed_alone()
    for got, want in unmade:
        yield from of_other_part(candidate, got, want)
    yield from solved
    for got, want in unmade if not solved else ():
        yield from of_other_product(candidate, got, want)
    for requirement in wanted:
        if requirement.kind == "size":
            yield from _satisfying(problem, candidate, requirement, error=error)
    for got, want in sizes:
        yield from of_own_part(candidate, got, want)
    # no size that tensors share for its name alone suits all of them
    for condition in unsolved if sizes else ():
        yield from _split(candidate, condition)
    if not is_about_rank:
        for rank in OTHER_RANKS:
            yield from _satisfying(
                problem, candidate, Requirement("rank", str(rank)), only_unknown_ranks=True, error=error
            )
    yield from of_other_kinds(candidate)
    yield from with_small_model(candidate)


def _has_no_new_one(changed: Candidate, candidate: Candidate) -> bool:
    now = candidate.unknowns.values
    return all(value != 1 or now.get(name) == 1 for name, value in changed.unknowns.values.items())


def _by_conditions(
    candidate: Candidate, conditions: tuple[SizeCondition, ...], end: float
) -> tuple[list[Candidate], list[SizeCondition]]:
    """Candidates whose sizes make conditions come out otherwise, and the conditions that no sizes do."""
    solved: list[Candidate] = []
    unsolved: list[SizeCondition] = []
    for condition in by_relevance(conditions)[:MAX_CONDITIONS]:
        for negated in (candidate.negated, ()):
            found = next(iter(solutions(candidate.unknowns, condition, negated, end)), None)
            if found is not None:
                if negated is not candidate.negated:
                    solved += _split(candidate, condition)
                solved.append(with_values(candidate, found, (*negated, condition)))
                break
        else:
            unsolved.append(condition)
    return solved, unsolved


def _with_all_that_it_lacks(problem: CallProblem, candidate: Candidate, error: Exception) -> Iterator[Candidate]:
    """The candidate with the arguments that a call inside lacks, as the function that it calls declares them."""
    unknowns, arguments = copy.deepcopy(candidate.unknowns), candidate.arguments
    infos = lacking_parameters(error)
    for name in lacking_names(error):
        offered = problem.offer(name, unknowns, infos.get(name)) if arguments.get(name) is None else None
        if offered is not None:
            arguments = arguments.with_argument(name, offered)
    if arguments is not candidate.arguments:
        yield Candidate(arguments, unknowns, candidate.negated)


def _with_one_more(problem: CallProblem, candidate: Candidate, error: Exception) -> Iterator[Candidate]:
    """Candidates with a tensor that the call can do without, where a layer takes more than it gets: `if skip is not None: x = cat(…)`."""
    joined = names_of_none(error, "cat")
    for name in problem.optional:
        if name in joined:
            yield from _satisfying(problem, candidate, Requirement("argument", name))


def _satisfying(
    problem: CallProblem,
    candidate: Candidate,
    requirement: Requirement,
    only_unknown_ranks: bool = False,
    error: BaseException | None = None,
) -> Iterator[Candidate]:
    if requirement.kind == "argument" or (requirement.kind == "mentioned" and requirement.value in problem.names):
        unknowns = copy.deepcopy(candidate.unknowns)
        is_open = candidate.arguments.get(requirement.value) is None
        offered = problem.offer(requirement.value, unknowns, None) if is_open else None
        if offered is not None:
            yield Candidate(candidate.arguments.with_argument(requirement.value, offered), unknowns, candidate.negated)
    elif requirement.kind == "no-argument":
        yield _with(candidate, candidate.arguments.without(requirement.value))
    elif requirement.kind == "dtype":
        yield from of_dtype(candidate, requirement.value, error)
    elif requirement.kind == "below":
        limited = candidate.arguments
        for name, tensor in nearest_first(candidate, error):
            if (
                tensor.dtype.startswith("int")
                and tensor.equal is None
                and (tensor.below or 10) > int(requirement.value)
            ):
                changed = replace(tensor, below=int(requirement.value))
                yield _with(candidate, candidate.arguments.with_argument(name, changed))
                limited = limited.with_argument(name, changed)
        if limited is not candidate.arguments:
            yield _with(candidate, limited)
    elif requirement.kind == "rank":
        origins = Origins(error) if error is not None else None
        yield from of_rank(candidate, int(requirement.value), only_unknown_ranks, origins=origins)
    elif requirement.kind == "size":
        got, want = map(int, requirement.value.split())
        for name, unknown in candidate.unknowns.by_name.items():
            if unknown.value == got and not unknown.fixed and want > 0:
                values = {**candidate.unknowns.values, name: want}
                is_undone = any(condition.holds(values) is condition.outcome for condition in candidate.negated)
                if is_undone or _JOINED.search(str(error)) is not None:
                    # it would undo what an earlier failure required, or change both
                    yield from apart(candidate, name, want)
                yield with_values(candidate, values, candidate.negated)


def _with_as_many_as_indices(candidate: Candidate, error: Exception) -> Iterator[Candidate]:
    """Candidates in which what is indexed has as many items as another tensor, whose items were sorted or counted to index it: 64 where
    index 59 is out of bounds for 16."""
    found = BEYOND.search(reason_of(str(error)))
    if found is None:
        return
    values, size = candidate.unknowns.values, int(found["size"])
    many = sorted({value for value in values.values() if value > int(found["index"])})
    unknown = candidate.unknowns.by_name
    # batches and channels come before what is sorted
    for name in reversed([name for name, value in values.items() if value == size and not unknown[name].fixed]):
        for each in many[:1]:
            yield with_values(candidate, {**values, name: each}, ())


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2]


def _everything(candidate: Candidate) -> Iterator[Argument]:
    """The arguments, and what is in objects among them."""
    yield from (argument for _, argument in candidate.arguments.named)
    for _, thing in candidate.arguments.objects():
        yield from (argument for _, argument in thing.named)


def _of_fractions(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates whose numbers are from 0 to 1, as probabilities are: in all tensors, since an error names none of them, and in each."""
    floats = [
        (n, each) for n, each in candidate.arguments.tensors() if each.dtype.startswith("float") and each.below is None
    ]
    every = candidate.arguments
    for name, tensor in floats:
        every = every.with_argument(name, replace(tensor, below=1))
    if floats:
        yield _with(candidate, every)
    for name, tensor in floats if len(floats) > 1 else ():
        yield _with(candidate, candidate.arguments.with_argument(name, replace(tensor, below=1)))


def _with_gradients(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates whose tensors need a gradient: all that can have one, since an error names none, and each, also those of integers."""
    open_ones = [(name, each) for name, each in candidate.arguments.tensors() if not each.needs_gradient]
    every = candidate.arguments
    changed: list[tuple[str, Tensor]] = []
    for name, tensor in open_ones:
        if tensor.dtype.startswith(("float", "complex")) and tensor.equal is None:
            changed.append((name, replace(tensor, needs_gradient=True)))
            every = every.with_argument(*changed[-1])
    if every is not candidate.arguments:
        yield _with(candidate, every)
    integers = [(name, each) for name, each in open_ones if each.dtype.startswith("int")]
    changed += [
        (name, replace(t, dtype="float32", below=None, equal=None, needs_gradient=True)) for name, t in integers
    ]
    for name, tensor in changed if len(open_ones) > 1 or integers else ():
        yield _with(candidate, candidate.arguments.with_argument(name, tensor))


def _of_lengths(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates in which numbers that begin at 0 are lengths: of the steps of another tensor, or of one step."""
    tensors = dict(candidate.arguments.tensors())
    sizes = [candidate.unknowns.by_name[each.dims[1]].value for each in tensors.values() if len(each.dims) > 1]
    for name, tensor in tensors.items():
        if tensor.dtype.startswith("int") and len(tensor.dims) < 2:
            for length in [each for each in dict.fromkeys((*sizes, 1)) if each != tensor.equal]:
                changed = replace(tensor, below=None, equal=length)
                yield _with(candidate, candidate.arguments.with_argument(name, changed))


def _split(candidate: Candidate, condition: SizeCondition) -> Iterator[Candidate]:
    """A candidate in which a size that several tensors share for their names alone is another one for each: no value suits all of them."""
    tensors = dict(candidate.arguments.tensors())
    for name in condition.unknowns:
        users = [path for path, tensor in tensors.items() if name in tensor.dims]
        if len(users) < 2 or candidate.unknowns.by_name[name].fixed:
            continue
        arguments, unknowns = candidate.arguments, copy.deepcopy(candidate.unknowns)
        for path in users:
            own = unknowns.get(own_name(path, name), unknowns.by_name[name].value).name
            dims = tuple(own if dim == name else dim for dim in tensors[path].dims)
            arguments = arguments.with_argument(path, replace(tensors[path], dims=dims))
        yield Candidate(arguments, unknowns, ())


def _with(candidate: Candidate, arguments: Arguments) -> Candidate:
    return Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
