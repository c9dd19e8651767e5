"""Candidates whose tensors have other ranks, or are larger or smaller: all else stays as it is."""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from ..errors.origins import Origins
from ..source.guesses import dimension_size
from ..terms.arguments import INSIDE, Tensor
from ..terms.candidate import Candidate
from ..terms.dimensions import MAX_SIZE, SizeCondition

# names of a batch's size
BATCHES = frozenset({"B", "items"})
OTHER_RANKS = (3, 4, 2, 5, 1)
COMMON_RANKS = (2, 4)
MAX_RANK_OF_IDS = 3
# sides of images that pass through many strided layers
LARGER_SIZES = (64, 128, 224, 256, 384)
COMMON_SIDES = (28, 64, 224)
SIGNAL_SIZES = (512, 1024, 2048, 16000)
FEW_CHANNELS = 4
# the items of a batch where one is too few
SEVERAL = 2
# numbers in a tensor that is still tried
MOST_ITEMS = 2**25
# sizes that are not halved
SMALL_SIZE = 8


def larger(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates whose images, sequences and signals are larger: all their sides at once. A few channels stay as many."""
    sides: set[str] = set()
    values = candidate.unknowns.values
    is_signal = True
    for _, tensor in candidate.arguments.tensors():
        is_image = len(tensor.dims) > 3
        is_signal = is_signal and not is_image
        rest = tensor.dims[2:] if is_image else tensor.dims[1:]
        sides.update(name for index, name in enumerate(rest) if len(rest) == index + 1 or values[name] > FEW_CHANNELS)
    free = [name for name in sides if not candidate.unknowns.by_name[name].fixed]
    for least in (*LARGER_SIZES, *(SIGNAL_SIZES if is_signal else ())):
        sizes = {**values, **{name: max(values[name], least) for name in free}}
        # what an earlier failure required of a size holds for larger inputs, too: of channels that are split
        undone = {name for each in candidate.negated if each.holds(sizes) is each.outcome for name in each.unknowns}
        sizes.update({name: values[name] for name in undone})
        if sizes != values and all(
            math.prod(sizes[dim] for dim in tensor.dims) <= MOST_ITEMS for _, tensor in candidate.arguments.tensors()
        ):
            yield with_values(candidate, sizes, candidate.negated if undone else ())


def longer(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates in which one dimension of a signal or a sequence is longer, and its channels stay as many: the first after the batch,
    then the last."""
    values, free = candidate.unknowns.values, _free(candidate)
    floats = [tensor.dims for _, tensor in candidate.arguments.tensors() if tensor.dtype.startswith("float")]
    for sides in ([dims[1] for dims in floats if len(dims) > 1], [dims[-1] for dims in floats if len(dims) > 2]):
        for least in SIGNAL_SIZES:
            sizes = {**values, **{name: max(values[name], least) for name in sides if name in free}}
            if sizes != values:
                yield with_values(candidate, sizes, ())


def of_further_slices(candidate: Candidate, want: int, origins: Origins) -> Iterator[Candidate]:
    """Candidates for a slice that is empty and should have ``want`` items: it begins where the dimension ends (`x[:, n : 2 * n]`)."""
    values = candidate.unknowns.values
    for path, tensor in _nearest_first(candidate, origins):
        for dim in tensor.dims[1:]:
            if not candidate.unknowns.by_name[dim].fixed and values[dim] % want == 0:
                yield from apart(candidate, dim, values[dim] + want, [(path, tensor)])
                yield with_values(candidate, {**values, dim: values[dim] + want}, ())


def alike(candidate: Candidate, shapes: str) -> Iterator[Candidate]:
    """Candidates in which a tensor of the one shape is what that of the other is: `2, 16, 8|2`. The larger shape comes first."""
    values = candidate.unknowns.values
    wanted = [tuple(int(side) for side in re.findall(r"\d+", shape)) for shape in shapes.split("|")]
    of_shape = [
        [
            (path, tensor)
            for path, tensor in candidate.arguments.tensors()
            if tuple(values[d] for d in tensor.dims) == shape
        ]
        for shape in wanted
    ]
    if not all(of_shape):
        # what is compared with is computed: its shape is passed
        for (path, _), shape in ((pair, wanted[1 - index]) for index in (0, 1) for pair in of_shape[index]):
            if shape:
                unknowns = copy.deepcopy(candidate.unknowns)
                dims = tuple(unknowns.get(str(size), size, fixed=True).name for size in shape)
                arguments = candidate.arguments.with_argument(path, Tensor("float32", dims, has_known_rank=True))
                yield Candidate(arguments, unknowns, candidate.negated)
    for model, other in sorted(itertools.permutations(of_shape), key=lambda pair: _rank(pair[1])):
        if len(other) > 1 and model:
            arguments = candidate.arguments
            for path, _ in other:
                arguments = arguments.with_argument(path, model[0][1])
            yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
        for path, _ in other:
            for _, tensor in model:
                arguments = candidate.arguments.with_argument(path, tensor)
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def of_shape(candidate: Candidate, name: str, shape: str) -> Iterator[Candidate]:
    """The candidate whose argument ``name`` is a tensor of ``shape``, numbers and names: `batch, 3`."""
    given = candidate.arguments.get(name)
    if given is None:
        return
    unknowns = copy.deepcopy(candidate.unknowns)
    words = [word.strip() for word in shape.split(",")]
    dims = tuple(
        unknowns.get(word, int(word), fixed=True).name
        if word.isdecimal()
        else unknowns.get(word, dimension_size(word)).name
        for word in words
    )
    # what has a fixed number of columns is measured, and no table of ids: positions in space
    is_of_ids = isinstance(given, Tensor) and given.dtype.startswith("int") and not words[-1].isdecimal()
    kind, below = (given.dtype, given.below) if isinstance(given, Tensor) and is_of_ids else ("float32", None)
    made = Tensor(kind, dims, below, has_known_rank=True)
    yield Candidate(candidate.arguments.with_argument(name, made), unknowns, candidate.negated)


def of_other_part(candidate: Candidate, got: int, want: int) -> Iterator[Candidate]:
    """Candidates for a size that joined tensors make together, where one alone has a part of it: `cat([x2, up(x1)])`."""
    values, free = candidate.unknowns.values, _free(candidate)
    used = [dim for _, tensor in candidate.arguments.tensors() for dim in tensor.dims]
    for _, tensor in reversed(list(candidate.arguments.tensors())):
        part = tensor.dims[1 if len(tensor.dims) > 3 else -1] if len(tensor.dims) > 1 else ""
        if part in free and used.count(part) == 1 and values[part] < got and values[part] - got + want > 0:
            yield with_values(candidate, {**values, part: values[part] - got + want}, candidate.negated)


def of_own_part(candidate: Candidate, got: int, want: int) -> Iterator[Candidate]:
    """Candidates in which one of the tensors that share a size for its name alone has another one there: what a layer takes, or the part
    of it that one of several joined tensors has."""
    values, free = candidate.unknowns.values, _free(candidate)
    tensors = [each for each in candidate.arguments.tensors() if each[1].dtype.startswith("float") and each[1].dims]
    for name in dict.fromkeys(tensor.dims[-1] for _, tensor in tensors):
        size = want if values[name] == got else values[name] - got + want
        if name in free and values[name] <= got and size > 0:
            yield from apart(candidate, name, size, tensors)


def apart(
    candidate: Candidate, name: str, size: int, among: Collection[tuple[str, Tensor]] | None = None
) -> Iterator[Candidate]:
    """Candidates in which ``size`` is that of one tensor alone, of several that share an unknown for its name: the last one first; of
    those ``among`` them."""
    users = [(path, tensor) for path, tensor in candidate.arguments.tensors() if name in tensor.dims]
    wanted = users if among is None else [each for each in users if each in among]
    for path, tensor in reversed(wanted) if len(users) > 1 else ():
        unknowns = copy.deepcopy(candidate.unknowns)
        own = unknowns.get(own_name(path, name), size).name
        changed = replace(tensor, dims=tuple(own if dim == name else dim for dim in tensor.dims))
        yield Candidate(candidate.arguments.with_argument(path, changed), unknowns, candidate.negated)


def own_name(path: str, dim: str) -> str:
    """The name of a size that the tensor at ``path`` alone has, in place of one that it shares."""
    return f"{path}.{dim}"


def of_more_items(candidate: Candidate, got: int, want: int) -> Iterator[Candidate]:
    """Candidates for a tensor of ``got`` items that is viewed as ``want``: a vector has one dimension more."""
    values = candidate.unknowns.values
    for path, tensor in candidate.arguments.tensors():
        if len(tensor.dims) == 1 and got == values[tensor.dims[0]] < want and not want % got:
            unknowns = copy.deepcopy(candidate.unknowns)
            more = unknowns.get(f"{path}_more", want // got).name
            changed = replace(tensor, dims=(*tensor.dims, more))
            yield Candidate(candidate.arguments.with_argument(path, changed), unknowns, candidate.negated)


def _free(candidate: Candidate) -> list[str]:
    """The sizes of tensors that may change, batches aside."""
    used = dict.fromkeys(dim for _, tensor in candidate.arguments.tensors() for dim in tensor.dims[1:])
    return [name for name in used if not candidate.unknowns.by_name[name].fixed]


def of_other_product(candidate: Candidate, got: int, want: int) -> Iterator[Candidate]:
    """Candidates for a size that several make together: a factor of it, both sides of an image, two whose sum it is."""
    values, free = candidate.unknowns.values, _free(candidate)
    for name in free:
        size, rest = divmod(values[name] * want, got) if got else (0, 0)
        if not rest and 0 < size <= MAX_SIZE:
            yield with_values(candidate, {**values, name: size}, candidate.negated)
    for _, tensor in candidate.arguments.tensors():
        # a batch of one item that is a single step
        if tensor.dims and want and not got % want and math.prod(values[dim] for dim in tensor.dims) == got // want:
            single = {dim: 1 for dim in tensor.dims if not candidate.unknowns.by_name[dim].fixed}
            yield with_values(candidate, {**values, **single}, candidate.negated)
        sides = tensor.dims[-2:] if len(tensor.dims) > 3 else ()
        scaled = {name: round(values[name] * (want / got) ** 0.5) for name in sides if name in free and got}
        if scaled and all(size > 0 for size in scaled.values()):
            yield with_values(candidate, {**values, **scaled}, candidate.negated)
    for one, other in itertools.combinations(free, 2):
        if values[one] + values[other] == got and want > 1:
            yield with_values(candidate, {**values, one: want // 2, other: want - want // 2}, candidate.negated)


def of_common_sides(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates whose images have the sides that models are most often made for."""
    values = candidate.unknowns.values
    images = [tensor.dims[-2:] for _, tensor in candidate.arguments.tensors() if len(tensor.dims) == 4]
    sides = {name for dims in images for name in dims if not candidate.unknowns.by_name[name].fixed}
    for size in COMMON_SIDES if sides else ():
        yield with_values(candidate, {**values, **dict.fromkeys(sides, size)}, ())


def _rank(tensors: list[tuple[str, Tensor]]) -> int:
    return max((len(tensor.dims) for _, tensor in tensors), default=0)


def smaller(candidate: Candidate) -> Iterator[Candidate]:
    """The candidate with the large ones of its free sizes halved: images, sequences and signals."""
    values = candidate.unknowns.values
    halved = {
        name: max(size // 2, SMALL_SIZE)
        for name, size in values.items()
        if size > SMALL_SIZE and not candidate.unknowns.by_name[name].fixed
    }
    if halved:
        yield with_values(candidate, {**values, **halved}, ())


def of_rank(
    candidate: Candidate,
    rank: int,
    only_unknown_ranks: bool,
    is_about_states: bool = False,
    is_about_labels: bool = False,
    origins: Origins | None = None,
) -> Iterator[Candidate]:
    """Candidates whose tensors have ``rank`` dimensions: each tensor in turn, then all at once.

    ``is_about_states``: pairs come first, which are the states of an LSTM. ``is_about_labels``: what has no fractions does. Otherwise
    what is nearest to the error by its ``origins``, with all that has its shape if the error is about these, too.
    """

    def is_other(pair: tuple[str, Tensor]) -> bool:
        is_number = pair[1].dtype.startswith(("float", "complex"))
        return (is_about_states and not pair[0].endswith(f"{INSIDE}0")) or (is_about_labels and is_number)

    everywhere = candidate
    tensors = sorted(_nearest_first(candidate, origins), key=is_other)
    alike = _behind_and_alike(tensors, origins)
    if alike and all(
        len(tensor.dims) != rank and not (only_unknown_ranks and tensor.has_known_rank) for _, tensor in alike
    ):
        yield _all_reshaped(candidate, alike, rank)
    for name, tensor in tensors:
        is_table_of_ids = tensor.dtype.startswith("int") and rank > max(MAX_RANK_OF_IDS, len(tensor.dims))
        if len(tensor.dims) == rank or (only_unknown_ranks and tensor.has_known_rank) or is_table_of_ids:
            continue
        yield from _like_others(candidate, name, rank, origins)
        yield _reshaped(candidate, name, tensor, rank)
        everywhere = _reshaped(everywhere, name, tensor, rank)
    if len(list(candidate.arguments.tensors())) > 1:
        yield everywhere


def of_other_rank(candidate: Candidate, more: int, origins: Origins | None = None) -> Iterator[Candidate]:
    """Candidates in which each tensor in turn, then all of them, have ``more`` dimensions than now, or fewer where that is negative.

    Ids seldom have. ``origins`` as for ``of_rank``.
    """
    tensors = sorted(_nearest_first(candidate, origins), key=lambda pair: pair[1].dtype.startswith("int"))
    everywhere = candidate
    alike = _behind_and_alike(tensors, origins)
    if alike and more and 0 < len(alike[0][1].dims) + more <= max(OTHER_RANKS):
        yield _all_reshaped(candidate, alike, len(alike[0][1].dims) + more)
    for name, tensor in tensors:
        rank = len(tensor.dims) + more
        if more and 0 < rank <= (MAX_RANK_OF_IDS if tensor.dtype.startswith("int") else max(OTHER_RANKS)):
            yield from _like_others(candidate, name, rank, origins)
            yield _reshaped(candidate, name, tensor, rank)
            everywhere = _reshaped(everywhere, name, tensor, rank)
    if len(tensors) > 1 and everywhere is not candidate:
        yield everywhere


def _nearest_first(candidate: Candidate, origins: Origins | None) -> list[tuple[str, Tensor]]:
    tensors = list(candidate.arguments.tensors())
    return tensors if origins is None else sorted(tensors, key=lambda pair: origins.steps(pair[0]))


def _behind_and_alike(tensors: list[tuple[str, Tensor]], origins: Origins | None) -> list[tuple[str, Tensor]]:
    """Those of ``tensors`` that have the shape of the first one, if there are several and an error is about all of these: what a loss
    compares, queries and keys. One that is changed alone no longer fits the others."""
    same = [pair for pair in tensors if pair[1].dims == tensors[0][1].dims and pair[1].dtype == tensors[0][1].dtype]
    is_about_all = origins is not None and origins.are_all_behind(path for path, _ in same)
    return same if len(same) > 1 and is_about_all else []


def _like_others(candidate: Candidate, name: str, rank: int, origins: Origins | None) -> Iterator[Candidate]:
    """The candidate whose tensor ``name`` has the shape of the other ones behind the error, where these have ``rank`` dimensions: queries
    beside keys and values."""
    if origins is None or origins.is_of_joined:
        return
    tensors = dict(candidate.arguments.tensors())
    kind = tensors[name].dtype
    behind = [path for path in tensors if origins.are_all_behind((path,))]
    shapes = {tensors[path].dims for path in behind if path != name and tensors[path].dtype == kind}
    if name in behind and len(shapes) == 1 and len(dims := next(iter(shapes))) == rank:
        arguments = candidate.arguments.with_argument(name, replace(tensors[name], dims=dims))
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns), ())


def _all_reshaped(candidate: Candidate, tensors: list[tuple[str, Tensor]], rank: int) -> Candidate:
    """The candidate with ``rank`` dimensions for each of ``tensors``, which share them as they did before."""
    first, tensor = tensors[0]
    found = _reshaped(candidate, first, tensor, rank)
    dims = dict(found.arguments.tensors())[first].dims
    arguments = found.arguments
    for path, each in tensors[1:]:
        arguments = arguments.with_argument(path, replace(each, dims=dims))
    return Candidate(arguments, found.unknowns, found.negated)


def without_columns(candidate: Candidate) -> Iterator[Candidate]:
    """The candidate with vectors for what was said to be of size N x 1: people write so of both."""
    found = candidate
    for name, tensor in candidate.arguments.tensors():
        if len(tensor.dims) > 1 and candidate.unknowns.by_name[tensor.dims[-1]].value == 1:
            arguments = found.arguments.with_argument(name, replace(tensor, dims=tensor.dims[:-1]))
            found = Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
    if found is not candidate:
        yield found


def of_several(candidate: Candidate) -> Iterator[Candidate]:
    """The candidate with batches of more than one."""
    first = {tensor.dims[0] for _, tensor in candidate.arguments.tensors() if len(tensor.dims) > 1}
    single = {
        n: SEVERAL
        for n in first
        if candidate.unknowns.by_name[n].value == 1 and not candidate.unknowns.by_name[n].fixed
    }
    if single:
        yield with_values(candidate, {**candidate.unknowns.values, **single}, ())


def of_one_rank(candidate: Candidate) -> Iterator[Candidate]:
    """Candidates whose tensors of unknown ranks all have the same one: rows of numbers, then images."""
    for rank in COMMON_RANKS:
        found = candidate
        for name, tensor in candidate.arguments.tensors():
            if not tensor.has_known_rank and len(tensor.dims) != rank and tensor.dtype.startswith("float"):
                found = _reshaped(found, name, tensor, rank)
        if found is not candidate:
            yield found


def _reshaped(candidate: Candidate, name: str, tensor: Tensor, rank: int) -> Candidate:
    """Add or remove dimensions between the first two and the last, which keep their meaning."""
    unknowns = copy.deepcopy(candidate.unknowns)
    dims = list(tensor.dims)
    while len(dims) > rank:
        dims.pop(-2 if len(dims) > 2 else -1)
    while len(dims) < rank:
        new = unknowns.get(f"{name}_{rank}_{len(dims)}", 8 if len(dims) < 4 else 4).name
        # four dimensions are most often an image: (B, C, H, W); one that other tensors have, too, is their batch
        users = sum(dims[0] in each.dims for _, each in candidate.arguments.tensors()) if dims else 0
        is_batch = len(dims) == 1 and dims[0] in BATCHES and users > 1
        dims.insert(len(dims) if rank >= 4 or is_batch else max(len(dims) - 1, 0), new)
    arguments = candidate.arguments.with_argument(name, replace(tensor, dims=tuple(dims)))
    return Candidate(arguments, unknowns, ())


def with_values(candidate: Candidate, values: dict[str, int], negated: tuple[SizeCondition, ...]) -> Candidate:
    unknowns = copy.deepcopy(candidate.unknowns)
    unknowns.assign(values)
    return Candidate(candidate.arguments, unknowns, negated)
