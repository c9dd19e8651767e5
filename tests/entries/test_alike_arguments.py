"""Arguments that must fit one another, and what checkers of annotations, tables and square matrices say of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

OF_ONE_LENGTH = """\
import torch
from torch import nn


class Tables(nn.Module):
    def __init__(self, num_embeddings, embedding_dims):
        super().__init__()
        if not hasattr(num_embeddings, "__iter__"):
            num_embeddings = [num_embeddings]
        if len(num_embeddings) != len(embedding_dims):
            raise ValueError("these two differ")
        self.tables = nn.ModuleList(nn.Embedding(*each) for each in zip(num_embeddings, embedding_dims))

    def forward(self, ids):
        if ids.shape[1] != len(self.tables):
            raise RuntimeError("as many columns as tables")
        return torch.cat([table(ids[:, index]) for index, table in enumerate(self.tables)], 1)


class Net(nn.Module):
    def __init__(self, in_features, num_embeddings, embedding_dims):
        super().__init__()
        self.tables = Tables(num_embeddings, embedding_dims)
        self.head = nn.Sequential(nn.Linear(in_features + sum(embedding_dims), 2), nn.BatchNorm1d(2))

    def forward(self, input_numeric, input_categoric):
        return self.head(torch.cat([input_numeric, self.tables(input_categoric)], 1))
"""
OF_TWO_WIDTHS = """\
import torch
from torch import nn


class Core(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_state, self.of_actions = nn.Linear(32, 8), nn.Linear(6, 8)

    def forward(self, one, other):
        return self.of_actions(other).mean() + self.of_state(one).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = Core()

    def forward(self, joint_state: torch.Tensor, actions: torch.Tensor, size):
        given = {"one": joint_state * 1, "other": actions * 1}
        return self.core(**given) + torch.randn(torch.Size([size, 1]))
"""
CHECKED = """\
from typing import Any, Dict, Union

from torch import nn

# as checkers do: of code that was made so, no source is there to read what it demands
MADE = \"\"\"
def with_checks(self, first, second, **kwargs):
    if not isinstance(first, (nn.Module, dict)):
        raise Exception(f"Method parameter first={first!r} violates type hint Union[Module, dict]")
    if not isinstance(second, float):
        raise Exception(f'argument "second" ({type(second).__name__}) is not an instance of float')
    return function(self, first, second, **kwargs)
\"\"\"


def checked(function):
    names = {"function": function, "nn": nn}
    exec(MADE, names)
    names["with_checks"].__wrapped__ = function
    return names["with_checks"]


class Net(nn.Module):
    @checked
    def __init__(self, first: Union[nn.Module, Dict[str, Any]], second: Union[str, float], **kwargs):
        super().__init__()
        assert len(kwargs) == 0
        self.first, self.scale = first, second

    def forward(self, x):
        return self.first(x) * self.scale
"""
OF_A_GRAPH = """\
import numpy as np
from torch import nn

OPERATIONS = {"conv": lambda width: nn.Conv2d(width, width, 1), "none": lambda width: nn.Identity()}


class Spec:
    def __init__(self, matrix, ops):
        matrix = np.array(matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("matrix must be square")
        if matrix.shape[0] != len(ops):
            raise ValueError("one for each vertex")
        self.matrix, self.ops = matrix, ops


class Net(nn.Module):
    def __init__(self, spec):
        super().__init__()
        assert not np.tril(spec.matrix).any()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
        self.layers.extend(OPERATIONS[spec.ops[vertex]](8) for vertex in range(len(spec.matrix)))

    def forward(self, x):
        return self.layers(x)
"""
OF_INDICES = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, entry_size=40):
        super().__init__()
        self.register_buffer("order", torch.randperm(entry_size))

    def forward(self, x):
        return x.index_select(1, self.order).float()
"""
OF_PARTS = """\
from torch import nn


class FirstBlock(nn.Module):
    def forward(self, x):
        return x + 1


class SecondBlock(nn.Module):
    def forward(self, x):
        return x * 2

    def start(self, x):
        return x - 1


class Net(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.stages = nn.ModuleList([block])

    def forward(self, x):
        for stage in self.stages:
            x = stage(stage.start(x))
        return x
"""


def found(folder: Path, text: str) -> str:
    file = folder / f"alike_{abs(hash(text)) % 10**8}.py"
    return expression_found(file, text, "Net")


def test_lists_have_as_many_items_as_one_another(tmp_path: Path) -> None:
    text = found(tmp_path, OF_ONE_LENGTH)
    assert "num_embeddings=(256, 256), embedding_dims=(64, 64)" in text
    assert "(input_numeric=float32[2, 64], input_categoric=int64[2, 2] < 10)" in text


def test_tensors_of_names_that_often_have_one_width_have_two_where_layers_say_so(tmp_path: Path) -> None:
    text = found(tmp_path, OF_TWO_WIDTHS)
    assert "32]" in text.partition("joint_state=")[2].partition("actions")[0]
    assert "6]" in text.partition("actions=")[2].partition("size")[0]
    assert "size=8" in text


def test_what_a_checker_of_annotations_refuses_is_what_the_annotation_says(tmp_path: Path) -> None:
    text = found(tmp_path, CHECKED)
    assert "first=torch.nn." in text
    assert "second=1.0" in text


def test_a_square_matrix_and_keys_of_a_table_for_each_of_its_rows(tmp_path: Path) -> None:
    text = found(tmp_path, OF_A_GRAPH)
    assert "matrix=numpy.triu(numpy.ones((3, 3), dtype=int), 1), ops=('conv', 'conv', 'conv')" in text
    assert "(x=float32[2, 3, " in text  # many images, not one


def test_as_many_items_as_the_indices_that_the_object_keeps(tmp_path: Path) -> None:
    assert "Net()(x=float32[2, 40, 16])" in found(tmp_path, OF_INDICES)


def test_a_part_has_the_method_that_the_object_calls_of_it(tmp_path: Path) -> None:
    assert "Net(block=SecondBlock())" in found(tmp_path, OF_PARTS)
