"""How many floating point operations a node of a graph takes: by the formulas of torch/utils/flop_counter.py (torch 2.6 to 2.13), and
one operation per element for what that counter leaves out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compile_lens.trace.graph_text import GraphNode

Shape = tuple[int, ...]
# torch's short names of dtypes (torch/utils/_dtype_abbrs.py), as a device's figures call them
DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "u8": "int8"}
_TARGET = re.compile(r"^torch\.ops\.(?P<namespace>\w+)\.(?P<name>\w+)")
_ARGUMENT = re.compile(r"\[[^\]]{0,999}\]|[^,\s\[\]][^,\[\]]*")
# nothing is computed: a view, a copy, a constant, a choice of elements
_MOVED = """
view _unsafe_view reshape permute transpose t expand slice select squeeze unsqueeze as_strided alias detach
clone copy copy_ split split_with_sizes unbind getitem cat constant_pad_nd pad convert_element_type _to_copy
full full_like empty empty_strided empty_permuted empty_like new_empty_strided iota arange scalar_tensor
gather index index_select embedding flip roll repeat slice_scatter select_scatter as_strided_scatter index_put
inductor_seeds inductor_lookup_seed view_as_real view_as_complex lift_fresh_copy device_put reinterpret_tensor
diagonal unfold sym_size
"""
_MOVES = frozenset(_MOVED.split())


@dataclass(frozen=True, slots=True)
class Work:
    """Floating point operations: on matrix units by data type (the names of ``knowledge.devices``), and on ordinary units."""

    matmul: tuple[tuple[str, int], ...] = ()
    vector: int = 0
    vector_dtype: str = "float32"

    @property
    def total(self) -> int:
        return self.vector + sum(count for _, count in self.matmul)


def work_of(names: Iterable[str], nodes: Mapping[str, GraphNode]) -> Work | None:
    """The work of the nodes called ``names``; None if a size is not a number, or the graph does not have a node."""
    matmul: dict[str, int] = {}
    vector, double = 0, False
    outputs = _outputs(nodes.values())
    for name in names:
        node = nodes.get(name)
        if node is None:
            return None
        try:
            count = matmul_operations(node, nodes)
            if count is not None:
                dtype = dtype_of(nodes[node.operands[0]].dtype)
                matmul[dtype] = matmul.get(dtype, 0) + count
            else:
                vector += _element_operations(node, nodes, outputs)
                double = double or node.dtype in ("f64", "c128")
        except _UnknownSizeError:
            return None
    return Work(tuple(matmul.items()), vector, "float64" if double else "float32")


def dtype_of(short: str) -> str:
    """A short name of a dtype as a device's figures call it."""
    return "float8" if short.startswith("f8") else DTYPES.get(short, "float32")


class _UnknownSizeError(ValueError):
    """A size is symbolic, or not told."""


def matmul_operations(node: GraphNode, nodes: Mapping[str, GraphNode]) -> int | None:
    """The operations of a matrix product, a convolution or an attention; None for all else. Raises ValueError for an unknown size."""
    name = _name(node)
    shapes = [_shape(nodes[operand]) for operand in node.operands if nodes[operand].dtype] if _is_heavy(name) else []
    if name in ("mm", "bmm", "_scaled_mm", "_int_mm") and len(shapes) >= 2:
        return _product(shapes[0], shapes[1])
    if name in ("addmm", "baddbmm", "_addmm_activation") and len(shapes) >= 3:
        return _product(shapes[1], shapes[2])
    if name in ("convolution", "_convolution", "cudnn_convolution", "convolution_overrideable") and len(shapes) >= 2:
        return _convolution(shapes[0], shapes[1], _shape(node), _arguments(node)[6:7] == ["True"])
    if name == "convolution_backward" and len(shapes) >= 3:
        arguments = _arguments(node)
        transposed = arguments[7:8] == ["True"]
        forward = _convolution(shapes[1], shapes[2], shapes[0], transposed)
        wanted = arguments[10] if len(arguments) > 10 else "[True, True"
        return forward * sum(part.strip(" []") == "True" for part in wanted.split(",")[:2])
    if name and _is_attention(name):
        if "backward" in name:
            return _attention_backward(*shapes[:4]) if len(shapes) >= 4 else None
        return _attention(*shapes[:3]) if len(shapes) >= 3 else None
    return None


def _is_heavy(name: str) -> bool:
    return name.endswith("mm") or name == "_addmm_activation" or "convolution" in name or _is_attention(name)


def _is_attention(name: str) -> bool:
    return name.startswith(("_scaled_dot_product_", "flex_attention", "_flash_attention", "_efficient_attention"))


def _name(node: GraphNode) -> str:
    match = _TARGET.match(node.target)
    return match["name"] if match else node.target.rpartition(".")[2]


def _product(left: Shape, right: Shape) -> int:
    if len(left) < 2 or len(right) < 2:
        raise _UnknownSizeError
    return 2 * math.prod(left) * right[-1]


def _convolution(given: Shape, weight: Shape, made: Shape, transposed: bool) -> int:
    positions = (given if transposed else made)[2:]
    return 2 * given[0] * math.prod(positions) * math.prod(weight)


def _attention(query: Shape, key: Shape, value: Shape) -> int:
    batch, heads, length, width = _of_four(query)
    others, value_width = _of_four(key)[2], _of_four(value)[3]
    return 2 * batch * heads * length * others * (width + value_width)


def _attention_backward(_gradient: Shape, query: Shape, key: Shape, value: Shape) -> int:
    batch, heads, length, width = _of_four(query)
    others, value_width = _of_four(key)[2], _of_four(value)[3]
    # the scores again, then two products for the values and two for query and key
    return 2 * batch * heads * length * others * (3 * width + 2 * value_width)


def _of_four(shape: Shape) -> Shape:
    if len(shape) != 4:
        raise _UnknownSizeError
    return shape


def _element_operations(
    node: GraphNode, nodes: Mapping[str, GraphNode], outputs: Mapping[str, tuple[GraphNode, ...]]
) -> int:
    """One for each element: of the result, or of what a reduction reads."""
    if not node.target or _name(node) in _MOVES:
        return 0
    tensors = [nodes[operand] for operand in node.operands if nodes[operand].dtype]
    results = (node,) if node.dtype else outputs.get(node.name, ())
    if not results:
        return 0
    return max(math.prod(_shape(one)) for one in (*tensors, *results))


def _outputs(nodes: Iterable[GraphNode]) -> dict[str, tuple[GraphNode, ...]]:
    """The parts of nodes that give several values."""
    found: dict[str, tuple[GraphNode, ...]] = {}
    for node in nodes:
        if not node.target and len(node.operands) == 1 and node.dtype:
            found[node.operands[0]] = (*found.get(node.operands[0], ()), node)
    return found


def _shape(node: GraphNode) -> Shape:
    try:
        return tuple(int(size) for size in node.shape.split(",") if size.strip())
    except ValueError:
        raise _UnknownSizeError from None


def _arguments(node: GraphNode) -> list[str]:
    """The arguments of a call of an operator, lists whole."""
    inner = node.expression.partition("(")[2].rpartition(")")[0]
    return [found.strip() for found in _ARGUMENT.findall(inner)]
