"""What an error message requires that no condition on sizes shows: another rank or dtype, one more argument, smaller integers."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import Any

from ....runtime.parsed_source import parsed
from ....runtime.torchscript_errors import reason_of
from ..terms.requirement import Requirement
from .asserted_sizes import compared_sizes
from .failing_lines import failing_line, names_in_failing_lines
from .indexed_tables import has_dimension_too_many, size_for_index
from .lacking_arguments import lacking_names
from .object_messages import about_objects
from .operator_words import of_operators
from .unpacked_items import columns_unpacked, is_of_parts

_INTEGERS = re.compile(
    r"scalar types: (?:Long|Int)|scalar type Long|must be long, int|index tensor|expected scalar type (?:Long|Int)\b"
    r"|indices.{0,40}(?:Long|Int)|Expected dtype int\d|got float|only integer tensors of a single element|slice indices must be integers"
    r"|\"(?:repeat_interleave|bincount)\w*\" not implemented for|must be tuple of (?:ints|SymInts), but found element of type Tensor",
    re.I,
)
_FLOATS = re.compile(
    r"same dtype,? but got:? .{0,50}?\b(?:[Ll]ong|[Ii]nt|[Bb]ool)\b|expected scalar type Float but found (?:Long|Int|Bool)"
    r"|\"\w+\" not implemented for '(?:Long|Int|Bool)'|only Tensors of floating point|only supports floating-point"
    r"|Input type \(.*(?:Long|Int|Bool|long int|int|bool).*\) and|mixed dtype \(CPU\)|must be floating|Expected floating point|input dtype should be either floating point",
)
_LONG_OR_FLOAT = re.compile(r"expected scalar type Long but found Float")
_DOUBLES = re.compile(
    r"same dtype, but got: (?:float != double|double != float)|(?:Float and Double|Double and Float)\b|expected scalar type Double but found Float"
    r"|expected scalar type Float but found Double|Input type \(.*(?:float|double).*\) and bias type \(.*double"
)
_COMPLEX = re.compile(
    r"non-complex dtypes|only supported for complex tensors|\bfloat(?: !=|\) and \w+ type \() ?c10::complex<float>"
    r"|\bFloat(?:Tensor\))? and (?:\w+ type \()?\w*ComplexFloat|expected scalar type Float but found ComplexFloat"
    r"|\b(?:must|should|has to|needs to) be (?:an? )?complex\b|\b(?:requires|expects|expected) (?:an? )?complex\b",
    re.I,
)
_ASSERTED_COMPLEX = re.compile(r"^assert (?!not\b).*\bis_complex\(")
# two tensors that must be alike, and their shapes
_ALIKE = re.compile(
    r"\bequal size, but got \[(?P<stacked>[\d, ]*)\] at entry \d+ and \[(?P<beside>[\d, ]*)\]|"
    r"\[(?P<this>[\d, ]*)\].{0,40}?\b(?:same as|equal to|match(?:es)?|identical to)\b.{0,40}?\[(?P<that>[\d, ]*)\]|"
    r"\bsame (?:shape|size|dimension)s?\b.{0,60}?\[(?P<one>[\d, ]*)\].{0,40}?\[(?P<other>[\d, ]*)\]"
    r"|\[(?P<first>[\d, ]*)\].{0,60}?\[(?P<second>[\d, ]*)\].{0,60}\bsame (?:shape|size|dimension)s?\b",
    re.S,
)
_BOOLEANS = re.compile(
    r"only supports bool(?:ean)? masks|expected BoolTensor|mask.{0,30}bool|Expected attn_mask dtype to be bool"
    r"|only bool and floating types of \w*mask are supported",
    re.I,
)
_RANKS = (
    re.compile(r"not enough values to unpack \(expected (\d)"),
    re.compile(r"too many values to unpack \(expected (\d)"),
    re.compile(r"[Ee]xpected (\d)D(?: or (\d)D)? input"),
    re.compile(r"[Ee]xpected (\d)D \(unbatched\) or (\d)D \(batched\)"),
    re.compile(r"[Ee]xpected \S+ to be (\d)D or (\d)D, got"),
    re.compile(r"[Ee]xpected (\d) dim"),
    re.compile(r"expects? (?:a )?(\d)-?D"),
    re.compile(r"must be (\d)-?D"),
    re.compile(r"should be (\d)-?[dD]\b"),
    re.compile(r"(\d)-?D or (?:higher|more)"),
    re.compile(r"at least (\d)(?:-?D\b| dim)"),
    re.compile(r"[Ee]xpect\w* .{0,40}?to be (\d)-?D"),
    re.compile(r"(\d)D tensors? expected"),
    re.compile(r"(?:expected|has|have|must|should|needs?) .{0,12}be (\d)-dimensional"),
    re.compile(r"[Ww]rong shape: expected (\d) dims"),
    # either may be the wrong one: the larger comes first
    re.compile(r"same number of dimensions:? got (\d) and (\d)"),
    re.compile(r"Expected (\d)-D tensors?, but got"),
    re.compile(r"Only (\d)D, (\d)D and \dD input Tensors supported"),
)
# what one argument must be: `cell` must be a tensor with shape [3, 3]
_SHAPE_OF = re.compile(
    r"[`'\"]?(?P<name>[A-Za-z_]\w*)[`'\"]? (?:must|should|has to|needs to|is expected to) (?:be|have|be of)\b[^.\[(]{0,40}?\b(?:shape|size)d?\b:?[^.\[(]{0,8}"
    r"[\[(](?P<shape>[\w ]+(?:, *[\w ]+)*),?[\])]"
)
# two numbers for each dimension after the batch and the channels
_PADDED = re.compile(r"Padding size (\d) is not supported for \dD input")
_VECTOR = re.compile(r"(?:supposed|expected|has) to be a vector|must be a vector|expects? a vector")
_ANY_RANK = re.compile(
    r"Dimension out of range|permute\(sparse_coo\)|number of dims|must have at least|dimensions? .{0,30}(?:invalid|mismatch|do(?:es)? not match)"
    r"|too many indices|shape must match self tensor shape|Dimension specified as|tuple index out of range|list index out of range|rank|\bndim\b|\.dim\(\)",
)
_UNEXPECTED = re.compile(r"(?:unexpected|invalid) keyword argument '(\w+)'")
_NONE = re.compile(r"NoneType|\bNone\b")
_SUBSCRIPT = re.compile(
    r"subscript \w+ has size (?P<want>\d+) for operand \d+ which does not broadcast with previously seen size (?P<got>\d+)"
)
_MASK = re.compile(r"mask \[(?P<got>\d+)\b.{0,40}does not match the shape of the indexed tensor \[(?P<want>\d+)\b")
_GOT_EXPECTED = (
    re.compile(r"\((?:\d+)x(?P<got>\d+) and (?P<want>\d+)x\d+\)"),
    re.compile(r"same reduction dim, but got \[[^\]]*?(?P<got>\d+)\] X \[(?P<want>\d+)"),
    re.compile(r"to have (?P<want>\d+) channels, but got (?P<got>\d+)"),
    re.compile(r"size of tensor a \((?P<got>\d+)\) must match the size of tensor b \((?P<want>\d+)\)"),
    re.compile(r"size of tensor a \((?P<want>\d+)\) must match the size of tensor b \((?P<got>\d+)\)"),
    re.compile(r"\((?P<got>\d+)\) (?:doesn't|does not|must) match .*?\((?P<want>\d+)\)"),
    _MASK,
    re.compile(r"Expected (?P<want>\d+) in dimension \d+ but got (?P<got>\d+)"),
    re.compile(r"weights shape of \(\d+, (?P<got>\d+)\), but got torch\.Size\(\[\d+, (?P<want>\d+)\]"),
    re.compile(r"equal to batch_size, but got (?P<got>\d+) \(batch_size=(?P<want>\d+)\)"),
    re.compile(r"Expected size (?P<want>\d+) but got (?:size )?(?P<got>\d+)"),
    re.compile(
        r"[Ee]xpected (?:input size |embedding dimension of |hidden size )?(?P<want>\d+),? (?:but )?got (?P<got>\d+)"
    ),
    re.compile(
        r"(?P<got>\d+)\)? (?:must|should|has to) (?:be )?(?:the same as|equal)s?(?: to)?\b.{0,60}?(?P<want>\d+)"
    ),
    re.compile(r"to match num_features \((?P<want>\d+)\), but got: (?P<got>\d+)"),
    re.compile(r"running_mean should contain (?P<got>\d+) elements not (?P<want>\d+)"),
    re.compile(r"expected input with shape \[\*, (?P<want>\d+)\], but got input of size\[.*?(?P<got>\d+)\]"),
    re.compile(r"\((?P<got>\d+)[*x]\d+\).{0,60}\((?P<want>\d+)[*x]\d+\)"),
    _SUBSCRIPT,
    re.compile(r"inconsistent \w+:? got \[?(?P<got>\d+)\]?,? expected \[?(?P<want>\d+)"),
    re.compile(r"weight of shape \[(?:\d+, )*(?P<want>\d+)\] and normalized_shape = \[(?:\d+, )*(?P<got>\d+)\]"),
)
# a layer tells its rank, and what it got: the input has as many dimensions too many or too few
_RANK_AND_GOT = (
    re.compile(
        r"[Ee]xpected (?:\dD \(unbatched\) or )?(?P<want>\d)-?D (?:\(batched\) )?input.{0,20}got .{0,30}\[(?P<got>\d+(?:, \d+)*)\]"
    ),
    re.compile(r"[Ee]xpected input to be (?:\dD or )?(?P<want>\d)D, got (?P<rank>\d)D"),
    re.compile(r"batched (?P<want>\d)D tensor but received (?P<rank>\d)-D"),
    re.compile(r"should also be (?P<want>\d)-D but got \(?(?P<rank>\d)-D"),
    re.compile(r"subscripts in the equation \((?P<want>\d)\) does not match the number of dimensions \((?P<rank>\d)\)"),
    re.compile(r"[Ww]rong shape: expected (?P<want>\d) dims\. Received (?P<rank>\d)-dim tensor"),
    re.compile(r"not enough values to unpack \(expected (?P<want>\d), got (?P<rank>\d)\)"),
    re.compile(r"(?P<want>\d)D tensors expected, but got (?P<rank>\d)D"),
    re.compile(r"spatial dimensions of \[(?P<got>[\d, ]*)\] and output size of [\[(](?P<sizes>[\d, ]+)[\])]"),
    re.compile(r"[Ss]hapes? .{0,40}?\((?P<got>\d+(?:, \d+)*,?)\) (?:!=|instead of|vs\.?) \((?P<sizes>[-\d*?, ]+)\)"),
    re.compile(r"expand\(.*?\[(?P<got>[\d, ]*)\].*?size=\[(?P<sizes>[-\d, ]+)\]\): the number of sizes provided"),
    re.compile(r"input\.dim\(\) = (?P<rank>\d) is not equal to len\(dims\) = (?P<want>\d)"),
)
_NOT_DIVISIBLE = re.compile(
    r"(?P<got>\d+)\)?,? (?:(?:must|should|has to|needs to) be|is not|isn't|not)? ?(?:evenly )?divisible by .{0,40}?(?P<by>\d+)"
)
# of the inverse of a spectrogram, of which it has half of the frequencies, and one more
_FREQUENCIES = re.compile(
    r"n_fft=(?P<whole>\d+),.*\bto match n_fft(?P<half> / 2 \+ 1)? when onesided=\w+, but got (?P<got>\d+)", re.S
)
# the index of a column that is not there
BEYOND = re.compile(
    r"(?:index |\bid=)(?P<index>\d+)(?: is out of bounds for (?:dimension|axis) \d+ with size | axis_dim=)(?P<size>\d+)"
)
_ALONE = re.compile(r"Expected more than 1 value per channel")
_VIEWED = re.compile(r"shape '\[(?P<dims>[-\d, ]+)\]' is invalid for input of size (?P<size>\d+)")
_TOO_LARGE = re.compile(
    r"[Oo]verflow|\d million parameters|can't allocate memory|[Nn]ot enough memory|out of memory|[Ii]nvalid buffer size"
)
_OF_NOTHING = re.compile(
    r"must be greater than zero, but got 0|should not be zero|shape '\[(?:[-\d, ]*, )?0(?:, [-\d, ]*)?\]' is invalid|tensor of 0 elements"
    r"|weight of size \[(?:\d+, )*0[,\]]|have 0 elements|with zero elements|non-zero size|integer (?:division or )?modulo by zero|division by zero"
)
_CERTAINLY_TOO_SMALL = re.compile(
    r"Kernel size can't be greater|[Oo]utput size is too small|Invalid computed output size"
)
_TOO_SMALL = re.compile(
    r"Kernel size can't be greater|too small|non-empty (?:list|TensorList)|Padding size should be less"
    r"|padding \(.*\) at dimension|smaller than (?:the )?(?:kernel|window|patch)|maximum size for tensor at dimension"
    r"|shape of the mask .{0,60} does not match the shape of the indexed tensor"
    r"|selected index k out of range|Expected more than 1 (?:value|spatial element)|(?:longer|larger|greater) than|can't divide axis of length",
)
_REPEATED = re.compile(r"repeat dims can not be smaller than number of dimensions")
_OF_NO_SAMPLE = re.compile(r"(?:min|max)\(\): Expected reduction dim to be specified for input\.numel\(\) == 0")
_FRACTIONS = re.compile(
    r"between 0 and 1\b|\b(?:in|within|range|interval)\W{0,12}\[0(?:\.0*)?, ?1(?:\.0*)?\]|\(lower_bound=0\b"
    r"|probability tensor contains"
)
_POSITIVE = re.compile(
    r"(?:greater|larger|more) than (?:0|zero)\b|(?:must|should|has to|have to) be (?:strictly )?positive|<= ?0\b|at least (?:1|one)\b"
    r"|\blengths?\b.{0,60}\b(?:larger|greater|longer|exceeds?|less|at most)\b",
    re.I,
)
_GRADIENT = re.compile(r"does not require grad\b")
_SIZE_OF_INDEXED = re.compile(r"(?:is out of bounds for (?:dimension|axis) \d+ with size |\baxis_dim=)(\d+)")
_OUT_OF_RANGE = re.compile(
    r"index out of range|out of (?:DATA )?bounds|Target \d+ is out of|Class values must be smaller", re.I
)


def requirements(error: BaseException) -> Iterator[Requirement]:
    """What an error requires, the most definite first."""
    text = reason_of(str(error))
    yield from about_objects(error, text)
    yield from of_operators(text)
    yield from (Requirement("argument", name) for name in lacking_names(error))
    match = _UNEXPECTED.search(text)
    if match is not None:
        yield Requirement("no-argument", match[1])
    if _OUT_OF_RANGE.search(text) and not isinstance(error, AttributeError):
        told = _SIZE_OF_INDEXED.search(text)
        limits = dict.fromkeys((int(told[1]), 8, 2, 1) if told is not None else (8, 2, 1))
        yield from (Requirement("below", str(limit)) for limit in limits if limit)
    if _FRACTIONS.search(text):
        yield Requirement("fractions", "")
    if _POSITIVE.search(text):
        yield Requirement("positive", "")
    if _GRADIENT.search(text):
        yield Requirement("gradient", "")
    if _ALONE.search(text):
        yield Requirement("batch", "")
    if (_TOO_SMALL.search(text) and not _is_larger_than_its_mask(text)) or _is_less_than_its_view(text):
        yield Requirement("larger", "")
    match = _SUBSCRIPT.search(text)
    if match is not None and int(match["want"]) > int(match["got"]):
        yield Requirement("larger", "")
    if _BOOLEANS.search(text):
        yield Requirement("dtype", "bool")
    if _INTEGERS.search(text):
        yield Requirement("dtype", "int64")
    if _DOUBLES.search(text):
        yield Requirement("dtype", "float64")
    if _COMPLEX.search(text) or _ASSERTED_COMPLEX.search(failing_line(error)):
        yield Requirement("dtype", "complex64")
    match = _ALIKE.search(text)
    if match is not None:
        one, other = (each for each in match.groups() if each is not None)
        yield Requirement("alike", f"{one}|{other}")
    if _FLOATS.search(text):
        yield Requirement("dtype", "float32")
    if _NONE.search(text):
        yield from (Requirement("argument", name) for name in names_in_failing_lines(error))
    yield from (
        Requirement("argument", name) for name in re.findall(r"[`'\"]?\b([a-z][a-z0-9]*_[a-z0-9_]+)\b[`'\"]?", text)[:6]
    )
    yield from (Requirement("mentioned", word) for word in dict.fromkeys(re.findall(r"\b[a-z]\w*\b", text[:300])))
    if isinstance(error, AssertionError):
        in_line = re.findall(r"[A-Za-z_]\w*", failing_line(error))
        yield from (Requirement("mentioned", name) for name in dict.fromkeys(in_line))
    match = _SHAPE_OF.search(text)
    if match is not None:
        yield Requirement("shape", f"{match['name']} {match['shape']}")
    if _LONG_OR_FLOAT.search(text):
        yield Requirement("dtype", "float32")
    if _OF_NO_SAMPLE.search(text):
        yield Requirement("longer", "")
    if _REPEATED.search(text):
        yield Requirement("more-dims", "-1")
    unpacked, of_parts = _rank_of_unpacked(error), is_of_parts(error)
    for pattern in _RANK_AND_GOT:
        match = pattern.search(text)
        if match is not None and not of_parts:
            found = match.groupdict()
            rank = int(found["rank"]) if "rank" in found else len(re.findall(r"\d+", found["got"]))
            wanted = int(found["want"]) if "want" in found else len(re.findall(r"[^\s,]+", found["sizes"]))
            yield Requirement("more-dims", str(wanted - rank))
    if unpacked:
        yield Requirement("rank", str(unpacked))
    for pattern in _RANKS:
        match = pattern.search(text)
        if match is not None and not ("unpack" in text and (unpacked or of_parts)):
            # the last one is the batched rank
            yield from (Requirement("rank", rank) for rank in reversed([g for g in match.groups() if g]))
    yield from (Requirement(kind, value) for kind, value in compared_sizes(error))
    yield from _of_layer(error)
    match = _PADDED.search(text)
    if match is not None:
        yield Requirement("rank", str(int(match[1]) // 2 + 2))
    if _VECTOR.search(text):
        yield Requirement("rank", "1")
    if _ANY_RANK.search(text) or of_parts:
        # what is parted along a dimension that is named is most often rows
        yield from (Requirement("rank", rank) for rank in ("24351" if of_parts else "34251"))
    for pattern in _GOT_EXPECTED:
        match = pattern.search(text)
        if match is not None:
            yield Requirement("size", f"{match['got']} {match['want']}")
    match = _FREQUENCIES.search(text)
    if match is not None:
        whole = int(match["whole"])
        yield Requirement("bound", f"{match['got']} {whole // 2 + 1 if match['half'] else whole}")
    match = BEYOND.search(text)
    if match is not None:
        size = int(match["size"])
        if has_dimension_too_many(error, size):
            yield Requirement("more-dims", "-1")
        yield Requirement("size", f"{size} {size_for_index(error, size) or int(match['index']) + 1}")
    columns = columns_unpacked(error)
    if columns is not None:
        yield Requirement("size", "{} {}".format(*columns))
    match = _NOT_DIVISIBLE.search(text)
    if match is not None:
        got, divisor = int(match["got"]), max(int(match["by"]), 1)
        yield Requirement("size", f"{got} {(got // divisor + 1) * divisor}")
    match = _VIEWED.search(text)
    if match is not None and "-1" not in match["dims"]:
        pair = f"{match['size']} {math.prod(int(dim) for dim in match['dims'].split(','))}"
        yield from (Requirement(kind, pair) for kind in ("items", "size"))


def _rank_of_unpacked(error: BaseException) -> int:
    """The number of dimensions of the tensor whose shape the failing line unpacks: 2 for `b, n, device = *x.shape, x.device`, 0 where it
    unpacks something else."""
    if "values to unpack" not in str(error):
        return 0
    statement = next(iter(getattr(parsed(failing_line(error)), "body", ())), None)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], (ast.Tuple, ast.List)):
        return 0
    targets, value = statement.targets[0].elts, statement.value
    if any(isinstance(each, ast.Starred) for each in targets):
        return 0
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [ast.Starred(value, ast.Load())]
    several = [each.value for each in parts if isinstance(each, ast.Starred)]
    if len(several) != 1:
        return 0
    shape, count = several[0], len(targets) - len(parts) + 1
    if isinstance(shape, ast.Subscript) and isinstance(shape.slice, ast.Slice):
        lower = shape.slice.lower
        if shape.slice.upper is not None or not isinstance(lower, ast.Constant) or not isinstance(lower.value, int):
            return 0
        shape, count = shape.value, count + lower.value
    shape = shape.func if isinstance(shape, ast.Call) and not shape.args else shape
    return count if isinstance(shape, ast.Attribute) and shape.attr in ("shape", "size") else 0


def _of_layer(error: BaseException) -> Iterator[Requirement]:
    """The number of channels, or the rank, that the layer of torch's which failed takes, where its message does not say so."""
    entry, found = error.__traceback__, None
    is_of_rows, batched = False, 0
    while entry is not None:
        layer: Any = entry.tb_frame.f_locals.get("self")
        given: Any = entry.tb_frame.f_locals.get("input")
        # objects of the program's may raise anything when they are asked
        if type(layer).__module__.startswith("torch.nn.modules.conv") and type(given).__module__.startswith("torch"):
            found = (layer.in_channels, given.shape)
            # one item is taken, too, and programs pass many: what comes after may take nothing else
            batched = len(layer.kernel_size) + 2 if given.dim() == len(layer.kernel_size) + 1 else 0
        elif type(layer).__name__ == "BatchNorm1d" and type(given).__module__.startswith("torch"):
            # rows of numbers came with one dimension too many: their last one is what is normalized
            is_of_rows = given.dim() == 3 and given.shape[1] != layer.num_features == given.shape[2]
        entry = entry.tb_next
    if is_of_rows:
        yield Requirement("rank", "2")
    if batched:
        yield Requirement("rank", str(batched))
    if found is not None and len(found[1]) > 1 and int(found[1][1]) != found[0]:
        yield Requirement("size", f"{int(found[1][1])} {found[0]}")


def _is_less_than_its_view(text: str) -> bool:
    """Whether a tensor has too few items to be viewed as rows of a fixed length."""
    match = _VIEWED.search(text)
    if match is None:
        return False
    dims = [int(dim) for dim in match["dims"].split(",")]
    return -1 in dims and math.prod(dim for dim in dims if dim > 0) > int(match["size"])


def _is_larger_than_its_mask(text: str) -> bool:
    """Whether a mask is for less than what it indexes: larger inputs of the same form make both larger."""
    match = _MASK.search(text)
    return match is not None and int(match["got"]) < int(match["want"])


def is_of_nothing(error: BaseException) -> bool:
    """Whether a size that an object computed is 0."""
    return _OF_NOTHING.search(str(error)) is not None


def is_too_large(error: BaseException) -> bool:
    """Whether numbers are so large that no tensor has room for what they make: `2 ** n` items."""
    return isinstance(error, (MemoryError, OverflowError)) or _TOO_LARGE.search(str(error)) is not None


def is_too_small(error: BaseException) -> bool:
    """Whether an image or a signal is certainly too small for the layers."""
    return _CERTAINLY_TOO_SMALL.search(str(error)) is not None
