"""What wraps a model, takes an object of the package, or takes numbers where tensors are usual: the call is found all the same."""

from __future__ import annotations

import signal

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
messages = agent_module("inputs.synthesis.errors.messages")
compiled_call = agent_module("inputs.compiled_call")
less_work = agent_module("inputs.synthesis.making.less_work")

MODULES = '''\
from collections.abc import Sequence

import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, dim, num_tokens=None):
        super().__init__()
        self.longest = 32
        self.table = nn.Embedding(num_tokens, dim) if num_tokens else nn.Identity()
        self.head = nn.Linear(dim, num_tokens or dim)

    def forward(self, x):
        return self.head(self.table(x))


class Autoregressive(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.limit = net, net.longest

    def forward(self, x, **kwargs):
        inputs, targets = x[:, :-1], x[:, 1:]
        return nn.functional.cross_entropy(self.net(inputs, **kwargs).transpose(1, 2), targets)


class Pair(nn.Module):
    def __init__(self, generator, discriminator):
        super().__init__()
        self.generator, self.discriminator = generator, discriminator

    def forward(self, input):
        b, t = input.shape
        chosen = self.generator(input.clone()).transpose(1, 2).argmax(1)
        return self.discriminator(chosen).reshape_as(input)


class Labeled(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.scale = model, model.no_class_sets_this

    def forward(self, x):
        return self.model(x) * self.scale


class Rotary(nn.Module):
    def forward(self, h, w, device):
        return torch.linspace(0, 1, steps=h, device=device)[:, None] * torch.linspace(0, 1, steps=w, device=device)


class Blur:
    def adjoint_of(self, y):
        return y * 2


class Solver(nn.Module):
    def forward(self, y, blur):
        return blur.adjoint_of(y).float()


class Described(nn.Module):
    """A module.

    Args:
        sizes (list of int): widths
        name (str): a name
    """

    def __init__(self, sizes, name):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(size, 3) for size in sizes])
        self.name = name.upper()

    def forward(self, x):
        return self.layers[0](x)


class Experts(nn.Module):
    """Experts of several tasks.

    widths: int, size of the input
    experts: list of list of int, experts of each task
    heads: list of list, units of each hidden layer
    """

    def __init__(self, widths, experts, heads):
        super().__init__()
        assert all(len(each) == len(heads) for each in experts)
        self.layers = nn.ModuleList(nn.Linear(widths, 2 * widths) for each in experts for _ in range(sum(each)))
        self.heads = nn.ModuleList(nn.Linear(2 * widths, units[-1]) for units in heads)

    def forward(self, x):
        x = torch.stack([layer(x) for layer in self.layers]).mean(0)
        return [head(x) for head in self.heads]


class Named(nn.Module):
    def __init__(self, classes: Sequence[str], sides: tuple[int, int, int]):
        super().__init__()
        self.layer = nn.Linear(len(sorted(name.upper() for name in classes)) * len(sides), 2)

    def forward(self, x):
        return self.layer(x)


class Pyramid(nn.Module):
    def __init__(self, channels: Sequence[int], sides: list[int]):
        super().__init__()
        assert len(sides) == 3
        self.layers = nn.Sequential(*(nn.Linear(channels[n], channels[n + 1]) for n in range(4)))

    def forward(self, x):
        return self.layers(x)


class OpenScale(nn.Module):
    def __init__(self, scale=None):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return x * self.scale


class Padded(nn.Module):
    def forward(self, x):
        """
        :param torch.Tensor x: an (N, C, ...) tensor
        """
        return nn.functional.pad(x, (1, 1, 1, 1), mode="circular")
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("wrappers") / "parts_of_wrappers.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Autoregressive", "Autoregressive(net=LanguageModel(dim=64, num_tokens=256))(x=int64["),
        ("Pair", "torch.nn.Linear(64, 1)))(input=int64[2, 16] < 256)"),
        ("Labeled", 'Labeled(model=(m := torch.nn.Identity(), setattr(m, "no_class_sets_this", '),
        ("Rotary", "Rotary()(h=32, w=32, device=torch.device('cpu'))"),
        ("Solver", "Solver()(y=float32[2, 16, 16], blur=Blur())"),
        ("Described", "Described(sizes=[64, 64], name="),
        ("Experts", "Experts(widths=64, experts=["),
        ("Named", "Named(classes=['word_1', 'word_2'], sides=(64, 64, 64))(x=float32["),
        ("Pyramid", "sides=[64, 64, 64])(x=float32["),
        ("OpenScale", "OpenScale(scale=1.0)(x=float32["),
        ("Padded", "Padded()(x=float32["),
    ],
)
def test_a_call_is_found(modules: object, name: str, shown: str) -> None:
    found = target.find_call(modules, name, target.SearchBudget())
    assert shown in found.expression


def test_the_layer_that_failed_says_how_many_channels_it_takes() -> None:
    import torch

    with pytest.raises(RuntimeError) as raised:
        torch.nn.Conv2d(3, 4, 3, device="meta")(torch.empty(2, 16, 8, 8, device="meta"))
    wanted = [each.value for each in messages.requirements(raised.value) if each.kind == "size"]
    assert "16 3" in wanted


def test_a_constructor_that_computes_for_long_gets_smaller_defaults(modules: object) -> None:
    infos = agent_module("inputs.synthesis.source.signatures").read_parameters(
        lambda points=2048, hop=16, named=True: None, skip_first=False
    )
    candidates = agent_module("inputs.synthesis.terms.candidate")
    arguments = agent_module("inputs.synthesis.terms.arguments").Arguments()
    start = candidates.Candidate(arguments, agent_module("inputs.synthesis.terms.dimensions").Unknowns())
    found = [each.text for each in less_work.with_less_work(start, infos)]
    assert found == ["points=256", "points=512, hop=4"]


def test_compiled_calls_of_a_script_end_at_their_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []

    class Wire:
        def tell(self, event: object) -> None:
            told.append(event)

    def endless(*_: object) -> bool:
        while True:
            pass

    if signal.getitimer(signal.ITIMER_PROF)[0]:
        pytest.skip("a profiler uses the timer")
    monkeypatch.setattr(compiled_call, "CALLS_S", 0.2)
    monkeypatch.setattr(compiled_call, "run_all", endless)
    assert compiled_call.run_within_time(Wire(), [], None, "x.py", "Net", [])
    assert [(event.target, event.seconds) for event in told] == [("Net", 0.2)]
