"""Arguments of constructors: classes that they construct, texts, lists, and what an object has kept of its configuration."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODULES = """\
import torch
from torch import nn


class Residual(nn.Module):
    expansion = 1

    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.layer = nn.Conv2d(inner, outer, 3, stride=stride, padding=1)

    def forward(self, x):
        return self.layer(x).relu()


class Stages(nn.Module):
    def __init__(self, block, counts, classes=10):
        super().__init__()
        self.inner = 3
        self.first, self.second = (self._stage(block, 8, counts[each]) for each in (0, 1))
        self.last = nn.Linear(8 * block.expansion, classes)

    def _stage(self, block, outer, count):
        layers = []
        for _ in range(count):
            layers.append(block(self.inner, outer, 1))
            self.inner = outer * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        return self.last(self.second(self.first(x)).mean((2, 3)))


class Perceptron(nn.Module):
    def __init__(self, inputs, outputs, widths, activation):
        super().__init__()
        layers = []
        for width in widths:
            layers += [nn.Linear(inputs, width), getattr(nn, activation)()]
            inputs = width
        self.layers = nn.Sequential(*layers, nn.Linear(inputs, outputs))

    def forward(self, x):
        return self.layers(x)


class Spelled(nn.Module):
    def __init__(self, activation):
        super().__init__()
        if activation.lower() != "elu":
            raise ValueError(f"unknown activation {activation}")
        self.layer = nn.Linear(6, 6)

    def forward(self, x):
        return nn.functional.elu(self.layer(x))


class Kept(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        self.layer = nn.Linear(hparams.input_dim, 4)

    def forward(self, x):
        return self.layer(x)[:, : self.hparams.context_length] * self.hparams.scale


class Quantiles(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.quantiles = quantiles

    def forward(self, x):
        return sum(x * q for q in self.quantiles)


class Mixed(nn.Module):
    def __init__(self, losses, weights):
        super().__init__()
        self.losses, self.weights = nn.ModuleList(losses), weights

    def forward(self, pred, target):
        return sum(w * loss(pred, target) for w, loss in zip(self.weights, self.losses))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 12))

    def forward(self, z):
        return self.layers(z).view(len(z), 3, 2, 2)


class Wrapped(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def losses(self, x, t):
        return self.model(x, t, x)

    def forward(self, x):
        return self.losses(x, x)


class Listed(nn.Module):
    def __init__(self, width, channels):
        super().__init__()
        pairs = zip([width] + channels[:-1], channels)
        self.layers = nn.Sequential(*(nn.Conv1d(inner, outer, 1) for inner, outer in pairs))

    def forward(self, x):
        return self.layers(x)


class Plural(nn.Module):
    def __init__(self, args):
        super().__init__()
        width, sides = args.width, args.kernel_sizes
        self.layers = nn.ModuleList(nn.Conv1d(width, 4, side) for side in sides)

    def forward(self, x):
        return [layer(x) for layer in self.layers]


class Keyed(nn.Module):
    def __init__(self, numbers):
        super().__init__()
        self.layer = nn.Linear(len(numbers), numbers["<start>"])

    def forward(self, x):
        return self.layer(x)


class Adjacent(nn.Module):
    def __init__(self, matrix):
        super().__init__()
        self.matrix = torch.from_numpy(matrix).float()

    def forward(self, x):
        return self.matrix @ x


class Made(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.layer = nn.Linear(options["two"][1], 4)

    def forward(self, x):
        return self.layer(x)


def _made(**options):
    return Made(options)


def _named(name, pretrained, **options):
    return _made(**options)


def made_small(pretrained=False):
    return _named("small", pretrained, two=(1, 5))


class Lazy(nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.body = nn.Sequential(nn.LazyConv2d(8, 3), nn.Flatten(), nn.LazyLinear(classes))

    def forward(self, x):
        return self.body(x)


class Noise(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layer = nn.Conv2d(channels, channels, 1)

    def forward(self, x, t):
        return self.layer(x) * t[:, None, None, None]


class Process(nn.Module):
    def __init__(self, model, steps=10):
        super().__init__()
        self.model, self.steps = model, steps

    def forward(self, img):
        b, c, h, w = img.shape
        return self.model(img, torch.rand(b)) - img


class Critic(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x)


class Scored(nn.Module):
    def __init__(self, critic):
        super().__init__()
        self.critic = critic

    def forward(self, x):
        return self.critic(x).mean()


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn = nn.Embedding(32, 8), nn.GRU(8, 8, batch_first=True)

    def forward(self, text, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.words(text), lengths, batch_first=True, enforce_sorted=False)
        return self.rnn(packed)[1]


class Cut(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, starts: torch.LongTensor):
        if (starts <= 0).any():
            raise ValueError("all starts must be positive")
        return self.layer(x[:, starts])
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("constructors") / "made_up_constructors.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Stages", "Stages(block=Residual, counts=("),
        ("Perceptron", "activation='ReLU')(x=float32["),
        ("Spelled", "Spelled(activation='elu')(x=float32["),
        ("Kept", "context_length=64, scale=1.0))(x=float32["),
        ("Quantiles", "Quantiles(quantiles=("),
        ("Mixed", "Mixed(losses=(torch.nn.MSELoss(), torch.nn.MSELoss()), weights=("),
        ("Generator", "Generator()(z=float32[2, 6])"),
        ("Wrapped", "Wrapped(model=lambda *args, "),
        ("Listed", "channels=[64, 64])(x=float32["),
        ("Plural", "kernel_sizes=[3, 3]))(x=float32["),
        ("Keyed", 'Keyed(numbers={"<start>": '),
        ("Lazy", "Lazy(classes="),
        ("Process", "Process(model=Noise(channels="),
        ("Scored", "Scored(critic=Critic(width="),
        ("Padded", ", lengths=int64[2] == 16)"),
        ("Cut", "starts=int64["),
        ("Adjacent", "Adjacent(matrix=numpy.random.rand(16, 16))(x=float32["),
    ],
)
def test_what_a_constructor_takes(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression


def test_a_function_that_makes_it_by_way_of_others(modules: object) -> None:
    found = agent_module("inputs.synthesis.project.factories").factories(modules, modules.Made)  # type: ignore[attr-defined]
    assert list(found) == ["made_small()"]


def test_the_class_in_a_union_of_classes() -> None:
    wanted = agent_module("inputs.synthesis.project.concrete_classes").class_in(type[int | str])
    assert wanted is int
