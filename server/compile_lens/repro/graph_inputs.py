"""Reads what a trace says about the inputs of graphs: sizes of symbols, and which tensors require gradients."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compile_lens.repro.expressions import CannotWrite, contiguous_strides
from compile_lens.trace.records import Record

# torch/fx/graph.py, ``dtype_abbrs`` (torch 2.13)
DTYPES = {
    "bf16": "bfloat16",
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "c32": "complex32",
    "c64": "complex64",
    "c128": "complex128",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "b8": "bool",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
}
TENSOR = re.compile(
    r"^(?P<dtype>[a-z]+\d+\w*)\[(?P<shape>[^\]]*)\](?:\[(?P<stride>[^\]]*)\])?(?P<device>\w+(?::\d+)?)?$"
)
SCALAR = re.compile(r"^Sym\((?P<expression>.+)\)$")
SYMBOL = re.compile(r"\b[a-z]+\d+\b")
LONGEST_SIZE = 1000
# dimensions of a tensor (torch: 64)
MOST_SIZES = 64
ARITHMETIC = re.compile(r"^[\d\s+\-*/()%]+$")
# a power or a shift of a few characters would take all memory, and Python warns of calls
NO_ARITHMETIC = re.compile(r"\*\s*\*|[\d)]\s*\(")
NOT_A_NAME = re.compile(r"[^a-zA-Z0-9]+")


@dataclass(slots=True)
class GraphInputs:
    """Fed with the records of a trace. ``hints`` are the values of symbols, by compile id."""

    hints: dict[str, dict[str, float]] = field(default_factory=dict)
    _tensors: dict[tuple[str, Any, Any], Mapping[str, Any]] = field(default_factory=dict)
    _by_name: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Add one record; records that are not about inputs are ignored."""
        fields, compile_id = record.fields, record.compile_id or "-"
        try:
            if record.kind == "create_symbol":
                self.hints.setdefault(compile_id, {})[fields["symbol"]] = float(fields["val"])
            elif record.kind == "describe_tensor":
                self._tensors[compile_id, fields["describer_id"], fields["id"]] = fields
            elif record.kind == "describe_source":
                described = self._tensors.get((compile_id, fields["describer_id"], fields["id"]))
                if described is not None:
                    # the name of a placeholder is that of its source (torch/_dynamo/output_graph.py, torch 2.13)
                    self._by_name[compile_id, NOT_A_NAME.sub("_", fields["source"])] = described
        except (KeyError, TypeError, ValueError):
            return

    def requires_grad(self, compile_id: str, name: str) -> bool:
        """Whether the input ``name`` asks for a gradient."""
        return bool(self._by_name.get((compile_id, name), {}).get("requires_grad", False))

    def describe(self, compile_id: str, name: str, annotation: str) -> Any:
        """The description of an input (see ``expressions``) by its printed type, ``f32[s77, 4][4, 1]cpu`` or ``Sym(s77)``.

        Raises CannotWrite.
        """
        scalar = SCALAR.match(annotation)
        if scalar is not None:
            return _whole(self.value(compile_id, scalar["expression"]))
        match = TENSOR.match(annotation.replace(" ", "").replace("\\u0020", ""))
        if match is None or match["dtype"] not in DTYPES or match["shape"].count(",") > MOST_SIZES:
            raise CannotWrite(
                f"The graph's input {name:.100} has a type that cannot be rebuilt: {annotation or 'none is told':.200}."
            )
        shape = [int(self.value(compile_id, size)) for size in match["shape"].split(",") if size]
        strides = match["stride"]
        stride = [int(self.value(compile_id, s)) for s in strides.split(",") if s] if strides is not None else None
        return tensor(
            shape,
            stride if stride is not None else contiguous_strides(shape),
            f"torch.{DTYPES[match['dtype']]}",
            match["device"] or "cpu",
            self.requires_grad(compile_id, name),
        )

    def value(self, compile_id: str, expression: str) -> float:
        """What a size is with the values of its symbols: ``2*s0 + 1``. Raises CannotWrite for what is no arithmetic of them."""
        hints = self.hints.get(compile_id, {})
        unknown = [symbol for symbol in SYMBOL.findall(expression) if symbol not in hints]
        if unknown:
            raise CannotWrite(
                f"The trace does not contain the value of the symbol {unknown[0]}, a size of this graph's inputs."
            )
        text = SYMBOL.sub(lambda match: _digits(hints[match.group()]), expression)
        if not ARITHMETIC.match(text) or NO_ARITHMETIC.search(text) or len(text) > LONGEST_SIZE:
            raise CannotWrite(f"A size of this graph's inputs is an unsupported expression: {expression:.200}.")
        try:
            # digits and operators alone, as was just checked
            found = float(eval(text, {"__builtins__": {}}))
            if not math.isfinite(found):
                raise OverflowError
        except (SyntaxError, ArithmeticError, TypeError, RecursionError, MemoryError):
            raise CannotWrite(
                f"A size of this graph's inputs is an unsupported expression: {expression:.200}."
            ) from None
        return found


def tensor(shape: list[int], stride: list[int], dtype: str, device: str, requires_grad: bool) -> dict[str, Any]:
    """The description of a tensor whose values are not known."""
    values: dict[str, Any] = {"mean": 0.0, "std": 1.0}
    if dtype == "torch.bool":
        values = {"chance": 0.5, "high": 1}
    elif not dtype.startswith(("torch.float", "torch.bfloat", "torch.complex")):
        # small, as it may be an index
        values = {"low": 0, "high": 1}
    if math.prod(shape) == 0:
        values = {"fill": "0"}
    return {
        "is": "tensor",
        "id": 0,
        "shape": shape,
        "stride": stride,
        "offset": 0,
        "dtype": dtype,
        "device": device,
        "requires_grad": requires_grad,
        "parameter": False,
        "values": values,
    }


def _digits(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:g}"


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value
