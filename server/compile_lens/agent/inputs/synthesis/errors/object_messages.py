"""What an error message requires of objects among the arguments: attributes, keys, several values, something that can be called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..terms.requirement import Requirement
from .failing_lines import failing_line, keys_in_failing_line

_INDEX_WANTED = re.compile(r"argument '(?:index|indices)' \(position \d+\) must be Tensor")
_NO_ATTRIBUTE = re.compile(
    r"'(?:\w*Tensor|Parameter|types\.SimpleNamespace|int|float|str|Identity|Sequential|Embedding)' object has no attribute '(\w+)'"
)
_NO_MAPPING_METHOD = re.compile(
    r"'(?:list|tuple|set|NoneType)' object has no attribute '(?:items|keys|get|values|update)'"
)
_ASKED_FOR = re.compile(
    r"\b(?:contain|have|has|define|expose|implement|provide|needs?|requires?|missing|lacks?)\b(?: an?| the| valid){0,2} attribute[: ]+[`'\"]?(\w+)"
)
_NO_SEQUENCE = re.compile(
    r"object of type '(?:int|float)' has no len|'(?:int|float)' object is not (?:iterable|subscriptable|reversible)|argument of type 'int' is not"
    r"|cannot unpack non-iterable (?:int|float)|(?:argument|Value) after \* must be an iterable, not int"
    r"|can only concatenate (?:list|tuple) \(not \"(?:int|tuple)\"\)|for \+: '(?:list|tuple)' and '(?:list|tuple)'|'tuple' object (?:does not support"
    r" item assignment|has no attribute '(?:append|extend|insert|copy|pop)')|for \+: 'int' and '(?:list|tuple)'|argument \d+ must be iterable|called with an iterable"
    r"|(?:should|must|has to|expected|needs to) (?:to )?be (?:of type |an? )?(?:list|tuple|sequence|iterable)\b"
)
_LISTS = re.compile(
    r"concatenate list|'tuple' object|'list' and 'tuple'|'tuple' and 'list'|and 'list'|be (?:of type |an? )?list"
)
_NUMBER = re.compile(
    r"unsupported operand type\(s\) for \S+ '(?:numpy\.ndarray' and 'Tensor|Tensor' and 'numpy\.ndarray)'|must be (?:int|float|Number|bool|real number|SymInt), not (?:Tensor|Parameter)|'Tensor' object cannot be interpreted as an integer"
    r"|only integer tensors of a single element|only one element tensors can be converted|a Tensor with \d+ elements cannot be converted"
    r"|must be tuple of (?:ints|SymInts), but found element of type Tensor|takes an iterable of 'int' \(item \d+ is 'Tensor'\)|^int\(\) argument must be .{0,60} not '(?:tuple|list)'"
    r"|(?:linspace|logspace|arange|range|zeros|ones|empty|full|rand|randn|randint|randperm|eye)\(\) (?:received .{0,80}got \([^)]*Tensor|takes \d positional)"
)
_FLAG = re.compile(r"Boolean value of Tensor with more than one value")
_PAIRS = re.compile(
    r"must be tuple of Tensors, not Tensor|expected .{0,30}tuple of tensors|must be a tuple of .{0,12}tensors", re.I
)
_NOT_CALLABLE = re.compile(r"'(?:int|float|str|types\.SimpleNamespace)' object is not callable|must be (?:a )?callable")
_MORE_ARGUMENTS = re.compile(
    r"\bIdentity\.forward\(\) (?:takes|got an unexpected|missing)|\b[A-Z]\w*\.forward\(\) missing 1 required positional argument: 'input'"
)
_NO_TENSOR = re.compile(
    r"object to buffer '\w+' \(torch Tensor|must be (?:a )?Tensor, not (?:int|float|str|[A-Z]\w*)\b(?<!Tensor)|but got (?:int|float) *(?:$|instead)"
    r"|expected Tensor as element \d+ in argument \d+, but got (?:int|float)"
)
_NO_ARRAY = re.compile(r"expected np\.ndarray|must be (?:a |an )?(?:np\.|numpy\.? ?)(?:nd)?array")
_NO_SQUARE = re.compile(
    r"\b(?:must|should|has to|needs to|expected to|to) be (?:an? )?square\b|\bexpected an? square\b|\bis not square\b"
)
_NO_MODULE = re.compile(
    r"(?:int|float|str) is not a Module subclass|cannot assign '(?:int|float|str)' (?:object )?as child module"
)
_NO_MAPPING = re.compile(
    r"argument after \*\* must be a mapping|(?:list|tuple) indices must be integers or slices, not str|invalid data type 'str'|__contains__ only supports Tensor"
)
# an item is taken of what a key has: `layer["kernel"][0]`
_ITEM_OF_VALUE = re.compile(r"\[\s*['\"]\w+['\"]\s*\]\[\s*-?\d")
_KEYS = re.compile(r"\[\s*['\"]([\w<>\[\]/-]+)['\"]\s*\]|['\"]([\w<>\[\]/-]+)['\"] (?:not )?in\b")
_OBJECT_AS_MAPPING = re.compile(r"'types\.SimpleNamespace' object is not (?:subscriptable|iterable)|is not a mapping")
_OF_MAPPINGS = frozenset({"items", "keys", "get", "values", "update"})


# methods of texts that nothing else has which a constructor may get in place of a number
_OF_TEXTS = (
    frozenset(dir(str)) - frozenset(dir(int)) - {"encode", "join", "format", "index", "count", "split", "expandtabs"}
)
_SPLIT = re.compile(r"\.split\((?:['\")]|sep=)")


def is_method_of_text(name: str, error: BaseException) -> bool:
    """Whether ``error`` says that a number lacks a method which texts have: `name.lower()`, `sizes.split("x")`; tensors are split
    otherwise."""
    if not str(error).startswith(("'int' object", "'float' object")):
        return False
    return name in _OF_TEXTS or (name == "split" and _SPLIT.search(failing_line(error)) is not None)


def about_objects(error: BaseException, text: str) -> Iterator[Requirement]:
    match = _NO_ATTRIBUTE.search(text)
    if match is not None and isinstance(error, AttributeError):
        yield Requirement("key", "") if match[1] in _OF_MAPPINGS else Requirement("attribute", match[1])
    elif _NO_MAPPING_METHOD.search(text):
        yield Requirement("key", "")
    elif (asked := _ASKED_FOR.search(text)) is not None:
        yield Requirement("attribute", asked[1])
    elif "arg 1 must be a class" in text:
        yield Requirement("callable", "")
    elif _MORE_ARGUMENTS.search(text):
        yield Requirement("callable", "of any arguments")
    elif _NOT_CALLABLE.search(text):
        yield Requirement("callable", "")
    elif "'Tensor' object is not callable" in text:
        yield Requirement("function", "")
    elif _NO_ARRAY.search(text):
        yield Requirement("array", "")
    elif _NO_SQUARE.search(text):
        yield Requirement("square", "")
    elif _NO_TENSOR.search(text) and not _NO_SEQUENCE.search(text):
        yield Requirement("tensor", "int64" if _INDEX_WANTED.search(text) else "")
    elif _NUMBER.search(text) or _FLAG.search(text):
        yield Requirement("number", "flag" if _FLAG.search(text) else "")
    elif _NO_MODULE.search(text):
        yield Requirement("module", "")
    elif _PAIRS.search(text):
        yield Requirement("pair", "")
    elif _NO_SEQUENCE.search(text):
        several = Requirement("several", "list" if _LISTS.search(text) else "")
        if _ITEM_OF_VALUE.search(failing_line(error)):
            yield several
        yield from (Requirement("key", key) for key in keys_in_failing_line(error, _KEYS))
        yield several
    elif isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        # what a program says in a sentence of its own is no key
        if " " not in error.args[0] or not failing_line(error).startswith("raise "):
            yield Requirement("key", error.args[0])
    elif _NO_MAPPING.search(text) or _OBJECT_AS_MAPPING.search(text) or "too many indices" in text:
        key = next(iter(keys_in_failing_line(error, _KEYS)), "")
        if key or "too many indices" not in text:  # a tensor takes a text for a sequence of indices
            yield Requirement("key", key)
