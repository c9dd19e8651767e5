"""How many bytes each call of a kernel reads and writes: the sizes of the buffers that the output code passes to it.

Each buffer counts once. A kernel that reads a part of a buffer is counted with all of it; symbolic sizes are those of the first call,
which the code has for its own benchmark (``get_args``, or ``benchmark_compiled_module`` before torch 2.11).
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from compile_lens.stages.code_parts import KernelCall, KernelDefinition

ITEM_SIZES = {
    **dict.fromkeys(("bool", "uint8", "int8", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 1),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
ASSIGNED = re.compile(r"^(?P<name>\w+) = (?P<value>[^;#]+)")
ALLOCATED = re.compile(
    r"^(?:empty_strided\w*|rand_strided|alloc_from_pool|reinterpret_tensor|generate_example_value)\("
)
ASSERTED = re.compile(r"^[ \t]+assert_size_stride\((?P<name>\w+), (?P<shape>\([\d, ]*\)),", re.MULTILINE)
NUMBER = re.compile(r"^-?\d+$")
# characters of one statement
LONGEST = 100_000
# what Python raises for a text that is no code
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
SIGNATURE = re.compile(
    r"^(?:def |extern \"C\"\s+(?:\w+\s+)*)(?P<name>\w+)\((?P<parameters>[^()]*)\)\s*(?::|\n?\{)", re.MULTILINE
)
# in ``triton_meta``
POINTER = re.compile(r"'(?P<name>\w+)': '\*(?P<type>\w+)'")
# elements as Triton and C++ call them
ELEMENTS = {
    **dict.fromkeys(("i1", "i8", "u8", "fp8e4nv", "fp8e5", "bool", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("fp16", "bf16", "i16", "u16", "half", "bfloat16", "at::Half", "at::BFloat16", "int16_t"), 2),
    **dict.fromkeys(("fp32", "i32", "u32", "float", "int32_t"), 4),
    **dict.fromkeys(("fp64", "i64", "u64", "double", "int64_t"), 8),
}
MUTATED = re.compile(r"'mutated_arg_names': \[(?P<names>[^\[\]]*)\]")
# ``f32[4, 8][8, 1]cpu``, as graphs print types
TYPE = re.compile(r"^(?P<dtype>[a-z]+(?![a-z])\d*(?!\d))\w*\[(?P<shape>[^\]]*)\]")
SHORT = {
    "b8": 1,
    "i8": 1,
    "u8": 1,
    "f8": 1,
    "f16": 2,
    "bf16": 2,
    "i16": 2,
    "f32": 4,
    "i32": 4,
    "f64": 8,
    "i64": 8,
    "c64": 8,
    "c128": 16,
}
OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """The buffers that a call reads and writes, with their bytes; None where the code does not tell. ``is_known``: which they are."""

    reads: Mapping[str, int | None] = field(default_factory=dict)
    writes: Mapping[str, int | None] = field(default_factory=dict)
    is_known: bool = True

    @property
    def bytes_read(self) -> int | None:
        """The sum, None if one is not known."""
        return _sum(self.reads) if self.is_known else None

    @property
    def bytes_written(self) -> int | None:
        """The sum, None if one is not known or nothing is seen to be written."""
        return _sum(self.writes) if self.writes else None


def _sum(sizes: Mapping[str, int | None]) -> int | None:
    known = [size for size in sizes.values() if size is not None]
    return sum(known) if len(known) == len(sizes) else None


@dataclass(slots=True)
class Buffers:
    """What the code says of its variables: how many elements a tensor has, the bytes of each, and of the whole."""

    items: dict[str, int] = field(default_factory=dict)
    elements: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def take(self, name: str, value: ast.expr) -> None:
        """Learn what ``name = value`` makes."""
        if isinstance(value, ast.Name):
            for table in (self.items, self.elements, self.sizes, self.numbers):
                if value.id in table:
                    table[name] = table[value.id]
        elif isinstance(value, ast.Constant) and isinstance(value.value, int):
            self.numbers[name] = value.value
        elif isinstance(value, ast.Call) and (found := self.tensor(value)) is not None:
            self.items[name], self.sizes[name] = found

    def take_shape(self, name: str, shape: ast.expr) -> None:
        """Learn the shape that the code asserts of a result."""
        elements = self._product(shape)
        if elements is not None:
            self.elements[name] = elements

    def size(self, name: str, item: int | None) -> int | None:
        """The bytes of a tensor with elements of ``item`` bytes, where the code itself does not tell; None if that is not known."""
        if name in self.sizes:
            return self.sizes[name]
        return item * self.elements[name] if item is not None and name in self.elements else None

    def tensor(self, call: ast.Call) -> tuple[int, int] | None:
        """The bytes of an element and of the whole, of what a call allocates or views; None if that is not known."""
        function = _name(call.func)
        if function == "reinterpret_tensor" and len(call.args) > 1 and isinstance(call.args[0], ast.Name):
            item, shape = self.items.get(call.args[0].id), call.args[1]
        elif function == "alloc_from_pool" and len(call.args) > 3:
            item, shape = _item(call.args[2]), call.args[3]
        elif function.startswith(("empty_strided", "rand_strided", "generate_example_value")) and call.args:
            shape = call.args[0]
            given = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
            item = next(filter(None, map(_item, [*given, *call.args[1:]])), None)
        else:
            return None
        elements = self._product(shape)
        return (item, item * elements) if item is not None and elements is not None else None

    def _product(self, shape: ast.expr) -> int | None:
        total = 1
        for part in shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]:
            value = self._value(part)
            if value is None:
                return None
            total *= value
        return total

    def _value(self, part: ast.expr) -> int | None:
        if isinstance(part, ast.Constant) and isinstance(part.value, int):
            return part.value
        if isinstance(part, ast.Name):
            return self.numbers.get(part.id)
        if isinstance(part, ast.BinOp) and (apply := OPERATORS.get(type(part.op))) is not None:
            left, right = self._value(part.left), self._value(part.right)
            try:
                return apply(left, right) if left is not None and right is not None else None
            except ArithmeticError:
                return None
        return None


def _item(value: ast.expr) -> int | None:
    return ITEM_SIZES.get(value.attr) if isinstance(value, ast.Attribute) else None


def _name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def read_buffers(text: str) -> Buffers:
    """The buffers of one output code. Inputs come last in the text, so it is read twice."""
    buffers = Buffers()
    statements = list(_assignments(text))
    for _ in range(2):
        for name, value in statements:
            buffers.take(name, value)
    for found in ASSERTED.finditer(text):
        shape = _expression(found["shape"])
        if shape is not None:
            buffers.take_shape(found["name"], shape)
    return buffers


def _assignments(text: str) -> Iterator[tuple[str, ast.expr]]:
    for line in text.split("\n"):
        if not line.startswith("    "):
            continue
        found = ASSIGNED.match(line.strip())
        if found is None:
            continue
        value = found["value"].strip()
        if ALLOCATED.match(value) or NUMBER.match(value) or value.isidentifier():
            expression = _expression(value)
            if expression is not None:
                yield found["name"], expression


def _parsed(text: str, mode: Literal["eval", "exec"]) -> Any:
    """Raises ValueError for a text that no compiler has written: its tree would take a thousand times its length."""
    if len(text) > LONGEST:
        raise ValueError(len(text))
    return ast.parse(text, mode=mode)


def _expression(text: str) -> ast.expr | None:
    """The tree of an expression; None for a text that is none, or is nested so deep that no compiler has written it."""
    try:
        found: ast.expr = _parsed(text, "eval").body
        return found
    except UNREADABLE:
        return None


def traffic_of(call: KernelCall, defined: KernelDefinition | None, text: str, buffers: Buffers) -> Traffic:
    """What one call reads and writes; not known of a call in C++."""
    if call.is_cpp:
        return Traffic(is_known=False)
    try:
        tree = _parsed(call.text, "exec")
    except UNREADABLE:
        return Traffic()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if not calls:
        return Traffic()
    outer = calls[0]
    if defined is not None:
        return _of_parameters(outer, _parameters(defined, text), buffers)
    written = [keyword.value for keyword in outer.keywords if keyword.arg == "out"]
    return Traffic(dict(_tensors(outer.args, None, buffers)), dict(_tensors(written, None, buffers)))


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter of a kernel that is memory. ``item`` are the bytes of an element."""

    is_read: bool
    is_written: bool
    item: int | None


def _of_parameters(call: ast.Call, parameters: list[KernelParameter | None], buffers: Buffers) -> Traffic:
    reads: dict[str, int | None] = {}
    writes: dict[str, int | None] = {}
    for argument, parameter in zip(call.args, parameters, strict=False):
        if parameter is None:
            continue
        for name, size in _tensors([argument], parameter.item, buffers):
            if parameter.is_read:
                reads[name] = size
            if parameter.is_written:
                writes[name] = size
    return Traffic(reads, writes)


def _tensors(arguments: list[ast.expr], item: int | None, buffers: Buffers) -> Iterator[tuple[str, int | None]]:
    """The tensors among ``arguments``, with their bytes; None where the code does not tell."""
    for argument in arguments:
        if isinstance(argument, ast.Name):
            if argument.id not in buffers.numbers:
                yield argument.id, buffers.size(argument.id, item)
        elif isinstance(argument, ast.Call) and _name(argument.func) == "reinterpret_tensor" and argument.args:
            found, base = buffers.tensor(argument), argument.args[0]
            if isinstance(base, ast.Name):
                yield base.id, found[1] if found is not None else None
        elif isinstance(argument, (ast.List, ast.Tuple)):
            yield from _tensors(argument.elts, item, buffers)


def _parameters(defined: KernelDefinition, text: str) -> list[KernelParameter | None]:
    """The parameters of a kernel in order, None for what is no memory."""
    if defined.source is None:
        return []
    source = "\n".join(text.split("\n")[defined.source.first - 1 : defined.source.last])
    found = list(SIGNATURE.finditer(source))
    signature = next((one for one in found if one["name"] in {defined.name, "kernel"}), found[-1] if found else None)
    if signature is None:
        return []
    mutated = MUTATED.search(source)
    changed = set(re.findall(r"\w+", mutated["names"])) if mutated is not None else set()
    pointers = {one["name"]: one["type"] for one in POINTER.finditer(source)}
    return [_parameter(one.strip(), pointers, changed) for one in signature["parameters"].split(",")]


def _parameter(text: str, pointers: Mapping[str, str], changed: set[str]) -> KernelParameter | None:
    """A parameter of C++ has its type with it, one of Triton's has it in the kernel's metadata."""
    before, star, name = text.rpartition("*")
    if not star:
        name = text.partition(":")[0].strip()
        if name not in pointers:
            return None
        kind = pointers[name]
        is_output = name.startswith("out_ptr")
    else:
        name = name.strip()
        kind = before.removeprefix("const ").strip()
        is_output = not before.startswith("const ")
    is_both = name.startswith("in_out_ptr") or (name in changed and not name.startswith("out_ptr"))
    is_output = is_output and not name.startswith("in_out_ptr")
    return KernelParameter(is_both or not is_output, is_both or is_output, ELEMENTS.get(kind))


def bytes_of(described: str) -> int | None:
    """The bytes of a tensor by the type that a graph prints; None if it is symbolic or no tensor."""
    found = TYPE.match(described)
    if found is None or found["dtype"] not in SHORT:
        return None
    shape = [part.strip() for part in found["shape"].split(",") if part.strip()]
    if not all(part.isdecimal() for part in shape):
        return None
    return SHORT[found["dtype"]] * math.prod(int(part) for part in shape)
