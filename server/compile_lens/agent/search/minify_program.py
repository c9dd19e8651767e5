"""A graph as a straight-line program of inputs, statements and outputs that can be reduced and written as source.

All of it is text and plain data; ``minify_driver`` runs a reduced program to see what it does.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Any

# how the values of an input are created, the simplest first
FILLS = ("zeros", "ones", "randn", "rand", "saved")


@dataclasses.dataclass
class GraphValue:
    """A value of the program: the metadata of a tensor, or a number (``number``). ``fill`` says how an input is created."""

    shape: list[int] = dataclasses.field(default_factory=list)
    stride: list[int] = dataclasses.field(default_factory=list)
    dtype: str = "float32"
    device: str = "cpu"
    requires_grad: bool = False
    number: Any = None
    fill: str = "randn"
    low: int = 0
    high: int = 1

    @property
    def is_tensor(self) -> bool:
        return self.number is None

    @property
    def is_floating(self) -> bool:
        return "float" in self.dtype or "complex" in self.dtype

    def expression(self, saved: str) -> str:
        """The expression that creates it. ``saved`` is the expression of its saved values."""
        if not self.is_tensor:
            return repr(self.number)
        size = ", ".join(map(str, self.shape)) if self.shape else "()"
        place = "" if self.device == "cpu" else f', device="{self.device}"'
        if self.fill == "saved":
            text = saved
        elif self.dtype == "bool":
            text = {
                "zeros": f"torch.zeros({size}, dtype=torch.bool{place})",
                "ones": f"torch.ones({size}, dtype=torch.bool{place})",
            }.get(self.fill, f"torch.rand({size}{place}) > 0.5")
        elif self.is_floating:
            kind = "" if self.dtype == "float32" else f", dtype=torch.{self.dtype}"
            text = f"torch.{self.fill}({size}{kind}{place})"
        elif self.fill in ("zeros", "ones"):
            text = f"torch.{self.fill}({size}, dtype=torch.{self.dtype}{place})"
        else:
            whole = f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''})"
            text = f"torch.randint({self.low}, {self.high + 1}, {whole}, dtype=torch.{self.dtype}{place})"
        if self.fill != "saved" and self.stride != contiguous(self.shape):
            text = f"torch.empty_strided({self.shape}, {self.stride}, dtype=torch.{self.dtype}{place}).copy_({text})"
        if self.requires_grad and self.fill != "saved":
            text = f"({text})" if " " in text.partition("(")[0] else text
            text += ".requires_grad_()"
        return text

    def described(self) -> str:
        """``f32[4, 8]``, or the number."""
        return f"{self.dtype}{self.shape}" if self.is_tensor else repr(self.number)


def contiguous(shape: list[int]) -> list[int]:
    """The strides of a contiguous tensor as torch computes them (a size of 0 counts as 1)."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


@dataclasses.dataclass
class Statement:
    """One line of the program, the names that it defines and those that it uses."""

    text: str
    defines: list[str]
    uses: list[str]


@dataclasses.dataclass
class GraphProgram:
    """``values`` has the metadata of inputs, and of what statements define where that is known."""

    inputs: list[str]
    body: list[Statement]
    outputs: list[str]
    values: dict[str, GraphValue]

    def copied(self) -> GraphProgram:
        return copy.deepcopy(self)

    def target(self) -> str:
        """The function ``make_target`` of a repro."""
        lines = ["def make_target():", f"    def fn({', '.join(self.inputs)}):"]
        lines += [f"        {statement.text}" for statement in self.body]
        lines += [f"        return ({', '.join(self.outputs)},)", "", "    return fn"]
        return "\n".join(lines)

    def calls(self) -> str:
        """The function ``make_calls`` of a repro."""
        made = [self.values[name].expression(f"saved[{name!r}]") for name in self.inputs]
        lines = ["def make_calls():", "    torch.manual_seed(0)"]
        if self.uses_saved:
            lines.append('    saved = torch.load(Path(__file__).with_suffix(".pt"))')
        return "\n".join([*lines, f"    return [(({', '.join(made)}{',' if made else ''}), {{}})]"])

    @property
    def uses_saved(self) -> bool:
        """Whether the values of any input are loaded from a file."""
        return any(self.values[name].is_tensor and self.values[name].fill == "saved" for name in self.inputs)

    def without_dead_code(self) -> GraphProgram:
        """Without the statements and inputs that no output needs."""
        needed, kept = set(self.outputs), []
        for statement in reversed(self.body):
            if not statement.defines or needed & set(statement.defines):
                kept.append(statement)
                needed |= set(statement.uses)
        return GraphProgram([name for name in self.inputs if name in needed], kept[::-1], self.outputs, self.values)

    # -- reductions

    def with_outputs(self, outputs: Iterable[str]) -> GraphProgram:
        smaller = self.copied()
        smaller.outputs = list(outputs)
        return smaller.without_dead_code()

    def cut_after(self, count: int) -> GraphProgram | None:
        """The first ``count`` statements, with the last tensor that they define as the output."""
        for statement in reversed(self.body[:count]):
            for name in reversed(statement.defines):
                if name in self.values and self.values[name].is_tensor:
                    smaller = self.copied()
                    smaller.body, smaller.outputs = smaller.body[:count], [name]
                    return smaller.without_dead_code()
        return None

    def started_at(self, count: int) -> GraphProgram | None:
        """Without the first ``count`` statements: their definitions that the rest needs become inputs."""
        defined = {name for statement in self.body[:count] for name in statement.defines}
        needed = {name for statement in self.body[count:] for name in statement.uses} | set(self.outputs)
        return self._with_inputs_for(defined & needed, set(range(count)))

    def without(self, index: int) -> Iterator[GraphProgram]:
        """Without one statement: its value becomes an operand of the same shape and dtype, or otherwise an input."""
        statement = self.body[index]
        if len(statement.defines) == 1:
            name = statement.defines[0]
            mine = self.values.get(name)
            for operand in statement.uses:
                other = self.values.get(operand)
                if mine and other and (other.shape, other.dtype, other.number) == (mine.shape, mine.dtype, mine.number):
                    yield self._renamed(index, name, operand)
                    break
        defined = set(statement.defines)
        needed = {name for other in self.body[index + 1 :] for name in other.uses} | set(self.outputs)
        smaller = self._with_inputs_for(defined & needed, {index})
        if smaller is not None:
            yield smaller

    def _with_inputs_for(self, names: set[str], dropped: set[int]) -> GraphProgram | None:
        if not all(name in self.values for name in names):
            return None
        smaller = self.copied()
        smaller.body = [statement for index, statement in enumerate(smaller.body) if index not in dropped]
        smaller.inputs += sorted(names)
        for name in names:
            smaller.values[name].fill = "randn"
        return smaller.without_dead_code()

    def _renamed(self, index: int, old: str, new: str) -> GraphProgram:
        smaller = self.copied()
        del smaller.body[index]
        pattern = re.compile(rf"\b{re.escape(old)}\b")
        for statement in smaller.body:
            if old in statement.uses:
                statement.text = pattern.sub(new, statement.text)
                statement.uses = [new if name == old else name for name in statement.uses]
        smaller.outputs = [new if name == old else name for name in smaller.outputs]
        return smaller.without_dead_code()

    def sizes(self) -> list[int]:
        """The sizes of input dimensions, the largest first."""
        found = {size for name in self.inputs if self.values[name].is_tensor for size in self.values[name].shape}
        return sorted((size for size in found if size > 1), reverse=True)

    def with_size(self, old: int, new: int) -> GraphProgram:
        """Every dimension of size ``old`` changed to ``new``, in inputs and in the numbers of statements."""
        smaller = self.copied()
        for name in smaller.inputs:
            value = smaller.values[name]
            if value.is_tensor and old in value.shape:
                dense = value.stride == contiguous(value.shape)
                value.shape = [new if size == old else size for size in value.shape]
                value.stride = contiguous(value.shape) if dense else _restrided(value.stride, value.shape)
                if value.fill == "saved":
                    value.fill = "randn"
        number = re.compile(rf"(?<![\w.]){old}(?![\w.])")
        for statement in smaller.body:
            statement.text = number.sub(str(new), statement.text)
        return smaller


def _restrided(stride: list[int], shape: list[int]) -> list[int]:
    """Strides in the same order for another shape."""
    found = [0] * len(shape)
    step = 1
    for index in sorted(range(len(shape)), key=lambda i: stride[i]):
        found[index] = step
        step *= max(shape[index], 1)
    return found


def parse_body(source: str, known: Iterable[str]) -> tuple[list[Statement], list[str]]:
    """The statements of the ``forward`` that FX generates, and the names that it returns. ``known`` are its inputs."""
    tree = ast.parse(source)
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "forward")
    names, body, outputs = set(known), [], []
    for node in function.body:
        if isinstance(node, ast.Return):
            value = node.value
            leaves = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
            outputs = [leaf.id for leaf in leaves if isinstance(leaf, ast.Name)]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
            continue  # FX frees values by `x = None`
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            defines = [leaf.id for t in targets if t is not None for leaf in ast.walk(t) if isinstance(leaf, ast.Name)]
            value = node.value
            assert value is not None, ast.unparse(node)
            uses = [leaf.id for leaf in ast.walk(value) if isinstance(leaf, ast.Name) and leaf.id in names]
            names |= set(defines)
            text = ast.unparse(value)
            body.append(Statement(f"{' = '.join(defines)} = {text}" if defines else text, defines, uses))
    return body, outputs
