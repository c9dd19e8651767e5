"""Reads what the body of a function does with its parameters first: subscripts, layers that get them, what is read of them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ....runtime.parsed_source import parsed
from ..terms.parameter_info import ParameterInfo
from .counts import counts
from .guesses import INPUTS
from .guesses import by_name as usual
from .used_kinds import BOOLEAN, NUMBER, used_kinds

# functions that take an index, and at which position
_INDEXED = {"index_select": 2, "gather": 2, "index_add": 2, "scatter_add": 2, "take_along_dim": 1, "one_hot": 0}
# those whose index is a vector
_VECTORS = frozenset(("index_select", "index_add"))
# functions that a parameter is passed on to
MOST_RECEIVERS = 4
# methods whose results are like what they are called on
_KEEPING = frozenset(
    (
        "clone",
        "detach",
        "contiguous",
        "to",
        "float",
        "long",
        "cuda",
        "half",
        "masked_fill",
        "masked_fill_",
        "requires_grad_",
    )
)
_EINOPS = ("rearrange", "reduce", "repeat", "einsum", "parse_shape", "pack")


def read_body(source: str, by_name: dict[str, ParameterInfo]) -> None:
    tree = parsed(source)
    if tree is None:
        return
    function = next((n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if function is not None:
        body = _Body(by_name)
        for statement in function.body:
            body.visit(statement)
        for name in _only_asked(function, by_name):
            by_name[name].is_flag = True
        for name in counts(function, by_name):
            by_name[name].is_count = True
        for path, kind in used_kinds(function.body, by_name).items():
            name, _, key = path.partition(".")
            if key:
                by_name[name].field_kinds[key] = kind
            elif kind != NUMBER or getattr(usual(INPUTS, name), "dtype", "") == BOOLEAN:
                by_name[name].dtype = by_name[name].dtype or kind


def _only_asked(function: ast.AST, names: Iterable[str]) -> Iterator[str]:
    """Those of ``names`` of which a function only asks whether they are true, and which it may keep: `if pretrained:`, `self.x = x`."""
    asked: dict[str, int] = {}
    used: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            used[node.id] = used.get(node.id, 0) + 1
        tests = [node.test] if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)) else []
        for each in (part for test in tests for part in _parts_of_test(test)):
            if isinstance(each, ast.Name):
                asked[each.id] = asked.get(each.id, 0) + 1
        kept = node.value if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute) else None
        if isinstance(kept, ast.Name):
            used[kept.id] = used.get(kept.id, 0) - 1
    return (name for name in names if asked.get(name) and asked[name] == used.get(name))


def _parts_of_test(test: ast.expr) -> Iterator[ast.expr]:
    """What a condition asks of: `a` and `b` of `a and not b`."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts_of_test(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts_of_test(test.operand)
    else:
        yield test


@dataclass(slots=True)
class _Body(ast.NodeVisitor):
    """Walks a body in order; a name that is assigned no longer means the parameter."""

    by_name: dict[str, ParameterInfo]
    reassigned: set[str] = field(default_factory=set)
    # names of what is a parameter's value, or a part of it
    derived: dict[str, ParameterInfo] = field(default_factory=dict)
    # names of what tells whether a parameter is something: `is_leaf = order == 0`
    masks: dict[str, ParameterInfo] = field(default_factory=dict)
    # names of what a loop gets from a list of layers: `layers.0` of `self`
    looped: dict[str, str] = field(default_factory=dict)

    def _param(self, node: ast.AST | None) -> ParameterInfo | None:
        is_open = isinstance(node, ast.Name) and node.id not in self.reassigned
        return self.by_name.get(node.id) if is_open and isinstance(node, ast.Name) else None

    def _source(self, node: ast.AST) -> ParameterInfo | None:
        """The parameter of which ``node`` is the value, a part, or a copy: `x[:, 1:]`, `x.clone()`."""
        while isinstance(node, ast.Subscript) or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING
        ):
            node = node.value if isinstance(node, ast.Subscript) else node.func.value  # type: ignore[attr-defined]
        return self._param(node) or (self.derived.get(node.id) if isinstance(node, ast.Name) else None)

    def _derive(self, target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for each, part in zip(target.elts, value.elts, strict=True):
                self._derive(each, part)
        elif isinstance(target, ast.Name):
            source = self._source(value)
            self.derived.pop(target.id, None)
            self.masks.pop(target.id, None)
            compared = self._param(value.left) if isinstance(value, ast.Compare) else None
            if compared is not None:
                self.masks[target.id] = compared
            if source is not None:
                self.derived[target.id] = source

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._derive(target, node.value)
            self._unpacked(target, node.value)
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    self.reassigned.add(name.id)

    def visit_For(self, node: ast.For) -> None:
        # `for layer in self.layers: x = layer(x)`: the input of the first layer
        if isinstance(node.target, ast.Name) and _self_attribute(node.iter):
            self.looped[node.target.id] = f"{_self_attribute(node.iter)}.0"
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == node.target.id:
                    info = self._param(call.args[0] if call.args else None)
                    if info is not None:
                        info.layers += (f"{_self_attribute(node.iter)}.0",)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        attribute = _self_attribute(node.func)
        if attribute:
            for argument in node.args[:1]:
                info = self._source(argument)
                if info is not None:
                    info.layers += (attribute,)
            self._states(attribute, node.args[1:2])
        self._pass_on(node, attribute)
        if name == "range":
            self._count(node)
        if name in ("get", "pop") and isinstance(node.func, ast.Attribute) and node.args:
            self._reads(self._param(node.func.value), getattr(node.args[0], "value", None))
        if name in _EINOPS:
            self._einops(name, node)
        if name.rstrip("_") in _INDEXED:
            self._index(node, _INDEXED[name.rstrip("_")])
        if name == "size" and isinstance(node.func, ast.Attribute):
            self._indexed(self._param(node.func.value), node.args[0] if node.args else None)

    def _states(self, attribute: str, second: list[ast.expr]) -> None:
        """Note what a layer gets beside its input: `self.lstm(x, (h, c))`."""
        for argument in second:
            parts = argument.elts if isinstance(argument, ast.Tuple) else [argument]
            for info in filter(None, map(self._param, parts)):
                info.states += ((attribute, len(parts)),)

    def _pass_on(self, node: ast.Call, attribute: str) -> None:
        """Note which function gets a parameter as it is."""
        called = getattr(node.func, "id", "")
        attribute = attribute or self.looped.get(called, "")
        written = f"self.{attribute}" if attribute else called
        if not written or any(isinstance(argument, ast.Starred) for argument in node.args):
            return
        given: list[tuple[int | str, ast.expr]] = list(enumerate(node.args))
        given += [(each.arg, each.value) for each in node.keywords if each.arg]
        for place, argument in given:
            info = self._param(argument)
            if info is not None and len(info.passed_on) < MOST_RECEIVERS:
                info.passed_on += ((written, place),)

    def _count(self, node: ast.Call) -> None:
        """Note what a loop counts up to: `range(order.max() + 1)`."""
        for each in (part for argument in node.args for part in ast.walk(argument)):
            if (
                isinstance(each, ast.Call)
                and isinstance(each.func, ast.Attribute)
                and each.func.attr in ("max", "item")
            ):
                info = self._param(each.func.value)
                if info is not None:
                    info.dtype = info.dtype or "int64"

    def _index(self, node: ast.Call, position: int) -> None:
        """Note what a call takes as an index: of a method of tensors, it stands one place earlier."""
        is_function = getattr(getattr(node.func, "value", None), "id", "") in ("torch", "F", "")
        position -= not is_function and position > 0
        named = [keyword.value for keyword in node.keywords if keyword.arg == "index"]
        info = self._param(next(iter((*named, *node.args[position : position + 1])), None))
        if info is not None:
            info.dtype = info.dtype or "int64"
            if info.dims is None and getattr(node.func, "attr", "").rstrip("_") in _VECTORS:
                info.dims = ("",)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        self._reads(self._param(node.value), node.attr)

    def _reads(self, info: ParameterInfo | None, name: object) -> None:
        """Note a key or an attribute; one of tensors says nothing."""
        if info is not None and isinstance(name, str) and name not in _of_tensors():
            info.fields = tuple(dict.fromkeys((*info.fields, name)))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        self._ranked(node)
        self._looked_up(node)
        key = getattr(node.slice, "value", None)
        self._reads(self._param(node.value), key)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            self._indexed(self._param(node.value.value), node.slice)
        sized = node.value.func if isinstance(node.value, ast.Call) and not node.value.args else None
        if isinstance(sized, ast.Attribute) and sized.attr == "size":
            self._indexed(self._param(sized.value), node.slice)

    def _ranked(self, node: ast.Subscript) -> None:
        """Note how many dimensions brackets name: three in `negatives[:, :, i]`. What adds one, or stands for any number, names none."""
        info = self._param(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        if info is not None and any(isinstance(each, ast.Slice) for each in parts):
            named = [each for each in parts if getattr(each, "value", each) not in (None, ...)]
            # one says nothing that makes a tensor of what is none otherwise: `weights[:, None]`
            info.least_rank = max(info.least_rank, len(named) if len(named) > 1 else 0)

    def _looked_up(self, node: ast.Subscript) -> None:
        """Note what stands in brackets with a slice beside it, as tensors have it: `states[child, :]`. A mask does, too."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        for part in parts if any(isinstance(each, ast.Slice) for each in parts) else ():
            info = self._source(part)
            if info is not None and "mask" not in info.name:
                info.dtype = info.dtype or "int64"
            whole = self._param(part) or (self.masks.get(part.id) if isinstance(part, ast.Name) else None)
            if whole is not None and whole.dims is None:
                whole.dims = ("",)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.generic_visit(node)
        left = node.left
        if isinstance(left, ast.Call):
            left = left.func
        rank = node.comparators[0]
        if isinstance(left, ast.Attribute) and left.attr in ("ndim", "dim", "ndimension"):
            info = self._param(left.value)
            if info is not None and isinstance(rank, ast.Constant) and isinstance(rank.value, int):
                info.least_rank = max(info.least_rank, rank.value)

    def _unpacked(self, target: ast.AST, value: ast.AST) -> None:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and value.elts
            and isinstance(value.elts[0], ast.Starred)
        ):
            # `b, n, device = *x.shape, x.device`
            rest = len(value.elts) - 1
            if not any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts[1:])):
                self._unpacked(ast.Tuple(target.elts[: len(target.elts) - rest], ast.Store()), value.elts[0].value)
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size":
            value = value.func
        whole = self._param(value)
        if whole is not None and isinstance(target, (ast.Tuple, ast.List)) and not whole.unpacked:
            self._part(whole, target)
        is_shape = isinstance(value, ast.Attribute) and value.attr in ("shape", "size")
        info = self._param(value.value) if is_shape and isinstance(value, ast.Attribute) else None
        if info is None or not isinstance(target, (ast.Tuple, ast.List)):
            return
        if any(isinstance(element, ast.Starred) for element in target.elts):
            info.least_rank = max(info.least_rank, len(target.elts) - 1)
            return
        names = tuple(
            element.id if isinstance(element, ast.Name) and element.id.strip("_") else "" for element in target.elts
        )
        if info.dims is None or len(info.dims) != len(names):
            info.dims = names

    def _part(self, whole: ParameterInfo, target: ast.Tuple | ast.List) -> None:
        """Note the parts of ``whole``, and those of its parts: `tokens, (rows, columns) = inputs`."""
        parts: list[ParameterInfo] = []
        for each in target.elts:
            if isinstance(each, ast.Name):
                parts.append(ParameterInfo(each.id, True, None, ""))
            elif isinstance(each, (ast.Tuple, ast.List)):
                parts.append(ParameterInfo("", True, None, ""))
                self._part(parts[-1], each)
        whole.unpacked = tuple(parts)
        self.derived.update({part.name: part for part in parts if part.name})

    def _indexed(self, info: ParameterInfo | None, index: ast.AST | None) -> None:
        if info is None:
            return
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            info.least_rank = max(info.least_rank, index.value + 1)
        operand = index.operand if isinstance(index, ast.UnaryOp) else None
        if isinstance(operand, ast.Constant) and isinstance(operand.value, int):
            info.least_rank = max(info.least_rank, operand.value)

    def _einops(self, name: str, node: ast.Call) -> None:
        texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if not texts:
            return
        inputs = re.sub(r"->.*", "", texts[0]).split(",")
        tensors = [a for a in node.args if not isinstance(a, ast.Constant)]
        for pattern, argument in zip(inputs, tensors, strict=False):
            info = self._param(argument)
            if info is not None and info.dims is None and "..." not in pattern:
                is_compact = name == "einsum" and " " not in pattern.strip()
                words = list(pattern.strip()) if is_compact else re.findall(r"\([^)]*\)|\S+", pattern)
                info.dims = tuple("" if word.startswith("(") or word == "_" else word for word in words)


@functools.cache
def _of_tensors() -> frozenset[str]:
    import torch

    return frozenset([*dir(torch.Tensor), *dir(dict)])


def _self_attribute(node: ast.AST) -> str:
    """``a.b`` for ``self.a.b``, ``a.0`` for ``self.a[0]``; '' for anything else."""
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, (int, str)):
            parts.append(str(node.slice.value))
            node = node.value
        else:
            return ""
    return ".".join(reversed(parts)) if isinstance(node, ast.Name) and node.id == "self" and parts else ""
