"""What an error asks for comes at once: longer signals beside few channels, a method that must be called before, shapes from comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
named_methods = agent_module("inputs.synthesis.errors.named_methods")

MODULES = """\
import torch
from torch import nn


class Beam(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(400), persistent=False)

    def forward(self, signals):
        batch, steps, channels = signals.shape
        spectrum = torch.stft(
            signals.transpose(1, 2).reshape(batch * channels, steps),
            400, 160, 400, self.window, pad_mode="constant", return_complex=True,
        )
        return torch.istft(spectrum, 400, 160, 400, self.window)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layer = None, nn.Linear(64, 64)

    def setup_caches(self, max_seq_length):
        self.table = torch.ones(max_seq_length, 1)

    def forward(self, x):
        assert self.table is not None, "call setup_caches first"
        return self.layer(x) * self.table[: x.size(1)]


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.merge = Inner(), nn.Linear(80 + 80 + 24 + 48, 64)

    def setup_caches(self, max_seq_length):
        self.inner.setup_caches(max_seq_length)

    def forward(self, x, prompt_x, style, cond):
        # x/prompt_x [B,80,T] -> [B,T,80]; cond [B,T,48]
        B, _, T = x.size()
        x, prompt_x = x.transpose(1, 2), prompt_x.transpose(1, 2)
        merged = self.merge(torch.cat([x, prompt_x, style[:, None].expand(B, T, 24), cond], -1))
        return self.inner(merged)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file: Path = tmp_path_factory.mktemp("asked") / "asked_for_by_errors.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "trials", "shown"),
    [
        ("Beam", 12, "(signals=float32[2, 512, "),
        (
            "Outer",
            16,
            "(x=float32[2, 80, 16], prompt_x=float32[2, 80, 16], style=float32[2, 24], cond=float32[2, 16, 48])",
        ),
    ],
)
def test_what_an_error_asks_for_comes_next(modules: object, name: str, trials: int, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget(trials=trials)).expression


class Prepared:
    def setup(self) -> None: ...

    def run(self, text: str) -> None:
        raise RuntimeError(text)


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("call setup() first", True),
        ("setup must be called before run", True),
        ("run needs two tensors", False),
        ("the setup has three channels", False),
    ],
)
def test_a_method_that_is_named_must_come_first(text: str, is_asked: bool) -> None:
    with pytest.raises(RuntimeError) as raised:
        Prepared().run(text)
    assert named_methods.asks_for_method(raised.value) is is_asked
