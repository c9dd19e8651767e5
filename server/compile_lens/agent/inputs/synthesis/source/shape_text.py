"""Parses shapes as people write them: jaxtyping annotations, comments, and docstrings in Google, NumPy and Sphinx style."""

from __future__ import annotations

import re
from collections.abc import Iterable

# jaxtyping's names of dtypes, and torchtyping's and plain ones, as torch's
ANNOTATED_DTYPES = {
    "Float": "float32",
    "Float16": "float16",
    "Float32": "float32",
    "Float64": "float64",
    "BFloat16": "bfloat16",
    "Num": "float32",
    "Shaped": "",
    "Inexact": "float32",
    "Real": "float32",
    "Int": "int64",
    "Int8": "int8",
    "Int16": "int16",
    "Int32": "int32",
    "Int64": "int64",
    "Integer": "int64",
    "UInt8": "uint8",
    "Bool": "bool",
    "Complex": "complex64",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "FloatTensor": "float32",
    "HalfTensor": "float16",
    "DoubleTensor": "float64",
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
}
_ANNOTATION = re.compile(r"\b(\w+)\s*\[\s*(?:[\w.]+\s*,\s*)?(['\"])(.*?)\2")
# (B, T, C) and [batch, seq_len, dim], with numbers and sums in them
_SHAPE = re.compile(r"[(\[]\s*((?:[\w.+\-*/ ]+|\*\w*|\.\.\.)(?:\s*,\s*(?:[\w.+\-*/ ]+|\.\.\.))*\s*,?)\s*[)\]]")
_X_SHAPE = re.compile(r"\b([A-Za-z]\w*|\d+)((?:\s*[x×]\s*(?:[A-Za-z]\w*|\d+)){1,5})\b")
# without spaces: Bx3xHxW
_COMPACT = re.compile(r"\b(?:[A-Z]|\d+)(?:x(?:[A-Z]|\d+)){1,5}\b")
# in words: Size: BATCH x LENGTH OF THE SEQUENCE x self.width
_IN_WORDS = re.compile(
    r"\b(?:[Ss]ize|[Ss]hape)s?(?: is| of)?\s*:?\s+((?:[\w.]+ ){1,5}[x×](?: [\w.]+){1,5}(?: [x×](?: [\w.]+){1,5})*)"
)
_DIMENSION = re.compile(r"(?:self\.)?[A-Za-z_]\w*(?:\s*[-+*/]+\s*\w+)*|\d+")
_NOT_DIMENSIONS = frozenset(
    [
        "optional",
        "default",
        "tensor",
        "torch",
        "float",
        "int",
        "bool",
        "str",
        "none",
        "true",
        "false",
        "e",
        "g",
        "i",
        "see",
        "defaults",
        "of",
        "the",
        "a",
        "an",
        "or",
        "and",
        "is",
        "in",
    ]
)
# words of docstrings that imply a dtype
_DTYPE_WORDS = (
    (re.compile(r"\bBoolTensor\b|\bbool(?:ean)? (?:mask|tensor)", re.I), "bool"),
    (re.compile(r"\bLongTensor\b|\bint64\b|\btoken (?:ids|indices)\b|\bclass (?:ids|labels|indices)\b", re.I), "int64"),
    (re.compile(r"\bFloatTensor\b|\bfloat32\b"), "float32"),
)
# of what is said of one parameter
MOST_LINES = 10
_GOOGLE = re.compile(r"^\s*\*{0,2}(\w+)\s*(?:\(([^)\n]*(?:\([^)]*\)[^)\n]*)*)\))?\s*:(?!//)\s*(.*)$")
_NUMPY = re.compile(r"^\s*(\w+)\s*:(?!//)\s*(\S.*)$")
_SPHINX = re.compile(r"^\s*:(?:param|arg)\s+(?:[\w.\[\]]+\s+)?(\w+)\s*:\s*(.*)$")


def annotated_shape(annotation: str) -> tuple[str, tuple[str, ...]] | None:
    """The dtype ('' if unknown) and dimensions of an annotation like ``Float[Tensor, "batch 3 h w"]``; None for any other."""
    match = _ANNOTATION.search(annotation)
    if match is None:
        return None
    kind = ANNOTATED_DTYPES.get(match[1], "")
    words = match[3].replace(",", " ").split() if " " in match[3] or "," not in match[3] else match[3].split(",")
    found: list[str] = []
    for word in words:
        word = word.strip().lstrip("#?").partition("=")[2] or word.strip().lstrip("#?")
        if word == "..." or word.startswith("*"):
            continue  # any number of dimensions, so also none
        found.append("" if word == "_" else word)
    return kind, tuple(found)


def written_shape(text: str) -> tuple[str, ...] | None:
    """The dimensions of the first shape in a sentence: ``(B, T, C)``, ``[batch, seq_len, 64]``, ``B x C x H x W``."""
    for match in _SHAPE.finditer(text):
        parts = [part.strip().strip("`'\"") for part in match[1].split(",") if part.strip()]
        if _are_dimensions(parts):
            if parts[-1] == "..." or not set(parts) - {"...", "*"}:
                return None  # (N, C, ...): as many more as the layers want; [...]: of any shape
            return tuple(part for part in parts if part not in ("...", "*"))
    compact = [each[0] for each in _COMPACT.finditer(text) if "0x" not in each[0]]
    if compact:
        # flattened 3x3 matrices of shape Bx9xHxW: what has a name is a dimension of the tensor
        named = [each for each in compact if re.search("[A-Z]", each)]
        return tuple((named or compact)[0].split("x"))
    described = _IN_WORDS.search(text)
    if described is not None:
        *parts, last = re.split(r" [x×] ", described[1])
        return (*("_".join(part.split()) for part in parts), last.split()[0].rstrip("."))
    # a word with an x in it is no product: `context`
    products = (found for found in _X_SHAPE.finditer(text) if not found[0].isalpha() or _COMPACT.fullmatch(found[0]))
    product = next(products, None)
    if product is not None and "0x" not in product[0]:
        parts = [
            part.strip()
            for part in re.split(r"\s+[x×]\s+" if re.search(r"\s[x×]\s", product[0]) else "[x×]", product[0])
        ]
        if len(parts) > 1 and _are_dimensions(parts):
            return tuple(parts)
    return None


def _are_dimensions(parts: list[str]) -> bool:
    if not parts or len(parts) > 6:
        return False
    named = [part for part in parts if part not in ("...", "*")]
    if len(named) == 1 and len(parts) == 1 and not _is_name_of_a_dimension(named[0]):
        return False
    return all(
        _DIMENSION.fullmatch(part) is not None and part.lower() not in _NOT_DIMENSIONS and not part.endswith(".")
        for part in named
    )


def _is_name_of_a_dimension(word: str) -> bool:
    """One word in parentheses is a shape only if it is a common name of a dimension."""
    known = ("n", "b", "batch", "batch_size", "bs", "t", "l", "d", "m")
    return word.lower() in known or re.fullmatch(r"(?:n|num)_[a-z]+", word.lower()) is not None


def dtype_in(text: str) -> str:
    """The dtype that a description implies, or ''."""
    return next((dtype for pattern, dtype in _DTYPE_WORDS if pattern.search(text)), "")


def parameter_descriptions(docstring: str, names: Iterable[str]) -> dict[str, str]:
    """What a docstring says about each parameter in ``names``, the first lines of each: in Google, NumPy or Sphinx style."""
    wanted = set(names)
    found: dict[str, list[str]] = {}
    current = ""
    indent = 0
    for line in docstring.splitlines():
        stripped = line.strip()
        name, rest = _described(line)
        if name in wanted and name not in found:
            current, indent = name, len(line) - len(line.lstrip())
            found[name] = [rest]
        elif name and name not in wanted:
            current = ""
        elif not stripped:
            continue
        elif current and len(line) - len(line.lstrip()) > indent:
            found[current].append(stripped)
        else:
            current = ""
    return {name: " ".join(lines[:MOST_LINES]) for name, lines in found.items()}


def _described(line: str) -> tuple[str, str]:
    for pattern in (_SPHINX, _GOOGLE, _NUMPY):
        match = pattern.match(line)
        if match is not None:
            return match[1], " ".join(part for part in match.groups()[1:] if part)
    return "", ""
