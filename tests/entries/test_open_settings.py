"""Arguments that no parameter declares: of a constructor that unpacks any number of them, and of a configuration that leaves them open."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import expression_found

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

MODULES = """\
import torch
from torch import nn


class Sides(nn.Module):
    def __init__(self, *dims):
        super().__init__()
        inner, middle, outer = dims
        self.first, self.second = nn.Linear(inner, middle), nn.Linear(middle, outer)

    def forward(self, x):
        return self.second(self.first(x))


class Free(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        sizes, self.activation = args
        layers = [nn.Linear(one, other) for one, other in zip(sizes, sizes[1:])]
        self.layers = nn.Sequential(*layers)
        self.rate = kwargs.get("rate", 0.5)

    def forward(self, x):
        return self.activation(self.layers(x)) * self.rate


class Indexed(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.width = args[0]
        depth = args[1]
        self.layers = nn.Sequential(*(nn.Linear(self.width, self.width) for _ in range(depth)))

    def forward(self, x):
        return self.layers(x)


class Encoder(nn.Module):
    def __init__(self, vocab_size, hidden_size=64):
        super().__init__()
        self.table = nn.Embedding(vocab_size, hidden_size)

    def forward(self, ids):
        return self.table(ids)


class OfParts(nn.Module):
    def __init__(self, scale, encoder_params={}):
        super().__init__()
        self.encoder, self.scale = Encoder(**encoder_params), scale

    def forward(self, ids):
        return self.encoder(ids) * self.scale


class Settings:
    def __init__(self, emb_size=None, classes=None, rate=0.5):
        self.emb_size, self.classes, self.rate = emb_size, classes, rate


class Configured(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        self.layer = nn.LSTM(self.settings.emb_size, self.settings.classes)

    def forward(self, x):
        return self.layer(x)[0] * self.settings.rate


class ConfigOfOther:
    def __init__(self, steps=3):
        self.steps = steps


class Keeping:
    def __init__(self, steps=3, **settings):
        self.steps = steps
        vars(self).update(settings)


class Kept(nn.Module):
    def __init__(self, config: Keeping):
        super().__init__()
        self.layer = nn.Linear(config.embedding_size, config.steps)

    def forward(self, x):
        return self.layer(x)


class Chosen(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layer = nn.Linear(self.config.inner_dim, self.config.outer_dim)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Sides", "Sides("),
        ("Free", "Free((64, 64), torch.nn.GELU())("),
        ("Indexed", "Indexed("),
        ("OfParts", 'OfParts(scale=1.0, encoder_params={"vocab_size": '),
        ("Configured", "Configured(settings=Settings(emb_size=64, classes="),
        ("Kept", "Kept(config=Keeping(embedding_size="),
        ("Chosen", "Chosen(config=types.SimpleNamespace(inner_dim="),
    ],
)
def test_what_no_parameter_declares_is_made_up(name, expected, tmp_path):
    assert expression_found(tmp_path / "open_ones.py", MODULES, name).startswith(expected)
