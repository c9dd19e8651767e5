"""Inputs of models that compute with complex numbers: what refuses real ones gets complex ones."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
messages = agent_module("inputs.synthesis.errors.messages")

MODULES = """\
import torch
from torch import nn


class Stacked(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.layer = nn.Linear(2 * width, width)

    def forward(self, signal):
        return self.layer(torch.cat([signal.real, signal.imag], dim=-1))


class Mixed(nn.Module):
    def __init__(self, channels=5):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, padding=1, dtype=torch.complex64)

    def forward(self, spectrum):
        return self.conv(spectrum).abs()


class Attending(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, q, k, v):
        if not (q.is_complex() and k.is_complex() and v.is_complex()):
            raise TypeError("q, k and v must be complex tensors")
        weights = (q @ k.mH).abs().softmax(-1).to(v.dtype)
        return weights @ (v * self.scale)


class Asserted(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, field):
        assert torch.is_complex(field)
        return field * self.scale
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("complex") / "complex_inputs.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "dtypes", "width"),
    [("Stacked", 1, "6])"), ("Mixed", 1, ""), ("Attending", 3, "4])"), ("Asserted", 1, "4])")],
)
def test_what_refuses_real_numbers_gets_complex_ones(modules: object, name: str, dtypes: int, width: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert found.expression.count("complex64[") == dtypes
    assert "float32" not in found.expression
    assert found.expression.endswith(width)


@pytest.mark.parametrize(
    "message",
    [
        "imag is not implemented for tensors with non-complex dtypes.",
        "view_as_real is only supported for complex tensors",
        "mat1 and mat2 must have the same dtype, but got Float and ComplexFloat",
        "Input type (float) and bias type (c10::complex<float>) should be the same",
        "Input type (torch.FloatTensor) and weight type (CPUComplexFloatType) should be the same",
        "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.",
        "expected m1 and m2 to have the same dtype, but got: float != c10::complex<float>",
        "expected scalar type Float but found ComplexFloat",
    ],
)
def test_messages_of_torch_that_ask_for_complex_numbers(message: str) -> None:
    assert messages.Requirement("dtype", "complex64") in list(messages.requirements(RuntimeError(message)))


@pytest.mark.parametrize(
    "message",
    [
        "mat1 and mat2 must have the same dtype, but got ComplexFloat and Float",
        "rfft expects a real input tensor, but got ComplexFloat",
        "Expected both inputs to be Half, Float or Double tensors but got ComplexFloat and ComplexFloat",
        "clamp is not supported for complex types",
    ],
)
def test_messages_of_torch_that_ask_for_real_numbers(message: str) -> None:
    assert messages.Requirement("dtype", "complex64") not in list(messages.requirements(RuntimeError(message)))
