"""Numbers, sizes and shapes that a program refuses by a condition or by a range in its message; what it can do without."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
size_of_model = agent_module("inputs.synthesis.making.size_of_model")
number_ranges = agent_module("inputs.synthesis.changes.number_ranges")
asserted_sizes = agent_module("inputs.synthesis.errors.asserted_sizes")

MODULES = """\
import torch
from torch import nn


class Spring(nn.Module):
    def __init__(self, width, tension):
        super().__init__()
        pull = tension
        if not 0.0 < pull < 1.0:
            raise ValueError("a spring cannot do that")
        self.layer, self.pull = nn.Linear(width, width), pull

    def forward(self, x):
        return self.layer(x) * self.pull


class Lens(nn.Module):
    def __init__(self, setup):
        super().__init__()
        zoom = float(setup["zoom"])
        check([zoom])
        self.layer, self.zoom = nn.Linear(8, 8), zoom

    def forward(self, x):
        return self.layer(x) * self.zoom


def check(values):
    for number in values:
        if sum(low <= number <= high for low, high in [(1.5, 4.0)]) == 0:
            raise ValueError(f"the zoom of {number} lies outside [1.5, 4.0]")


class Painter(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.get("palette") is not None:
            raise OSError("palettes are on a disk that is not here")
        self.layer = nn.Linear(config["width"], config["width"])

    def forward(self, x):
        return self.layer(x)


class Scanner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(9, 4)

    def forward(self, slices):
        assert isinstance(slices, torch.Tensor) and list(slices.shape[2:]) == [5, 9] and slices.dtype == torch.uint8, "wrong"
        return self.layer(slices / 255)


class Survey(nn.Module):
    def __init__(self, questions: int):
        super().__init__()
        self.questions = questions
        self.layer = nn.Linear(questions, 4)

    def forward(self, answers: torch.Tensor) -> torch.Tensor:
        people = answers.shape[0]
        if people < 3 * self.questions:
            raise ValueError("too small a survey")
        return self.layer(answers)


class Melody(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, notes):
        return self.scale * counted(notes)


def counted(notes):
    voices, beats, where = *notes.shape, notes.device
    return notes.reshape(voices * beats).float() + torch.ones(voices * beats, device=where)


class Averaged(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.mean(x, self.dim)


class Traced(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.scaled = torch.jit.trace(lambda x: x * gain + torch.ones_like(x), torch.zeros(3))

    def forward(self, x):
        return self.scaled(x)


class Flock(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, speeds, headings, birds):
        return self.scale * speeds + headings[birds].sum()


class Compared(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, ours, theirs):
        total = 0.0
        for one, other in zip([ours], [theirs]):
            total = total + (one.outline.float() - other.outline.float()).sum()
        return total * self.scale


class Framed(nn.Module):
    def __init__(self, borders: tuple):
        super().__init__()
        self.layers = nn.Sequential(nn.ReplicationPad2d(1), nn.BatchNorm2d(3))
        self.layers[0].padding = borders

    def forward(self, image):
        return self.layers(image)


class Effect(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Track(nn.Module):
    def __init__(self, *effects, **settings):
        super().__init__()
        if not effects:
            raise ValueError("a track without effects")
        self.effects = nn.ModuleList(effects)

    def forward(self, x):
        for effect in self.effects:
            x = effect(x)
        return x


class Scheduled(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = [rate.item() for rate in torch.linspace(0, 1, 4)]
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x) * self.rates[1]
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "numbers_in_bounds.py").write_text(MODULES)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("numbers_in_bounds")
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize(
    ("name", "shown", "most_trials"),
    [
        ("Spring", "tension=0.5)(", 8),
        ("Lens", 'setup={"zoom": 4})(', 8),
        ("Painter", 'Painter(config={"width": ', 12),
        ("Scanner", "Scanner()(slices=uint8[2, 16, 5, 9])", 24),
        ("Survey", "Survey(questions=64)(answers=float32[192, ", 6),
        ("Melody", "Melody()(notes=float32[2, 16])", 3),
        ("Averaged", "Averaged(dim=-1)(", 4),
        ("Traced", "Traced(gain=64)(", 6),
        ("Flock", "birds=int64[", 5),
        ("Compared", "ours=types.SimpleNamespace(outline=float32[", 24),
        ("Track", "Track(Effect(width=", 6),
        ("Framed", "Framed(borders=[64, 64, 64, 64])(image=float32[2, 3, ", 60),
    ],
)
def test_what_is_passed(
    modules: ModuleType, name: str, shown: str, most_trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = agent_module("inputs.synthesis.trying.search")
    tried: list[str] = []
    for_real = search._try_for_real

    def counted(problem: object, candidate: object, seconds: float) -> object:
        tried.append(candidate.text)  # type: ignore[attr-defined]
        return for_real(problem, candidate, seconds)

    monkeypatch.setattr(search, "_try_for_real", counted)
    expression = target.find_call(modules, name, target.SearchBudget(trials=60, seconds=60)).expression
    assert shown in expression, expression
    assert len(tried) <= most_trials, tried


def test_what_reads_numbers_of_its_tensors_is_not_made_on_the_meta_device(modules: ModuleType) -> None:
    assert size_of_model.needs_memory(vars(modules), "Scheduled()")
    assert not size_of_model.needs_memory(vars(modules), "Melody()")


def _error(function: object, *arguments: object) -> BaseException:
    with pytest.raises(Exception) as caught:
        function(*arguments)  # type: ignore[operator]
    return caught.value


def _checks(rows: int, low: int, kinds: list[int]) -> None:
    if rows > 4 and (low < 2 or len(kinds) > 3):
        raise ValueError("both of two conditions were met")
    assert 8 <= rows < 16, "wrong"


def test_only_conditions_that_alone_decide_are_met() -> None:
    assert not list(asserted_sizes.compared_sizes(_error(_checks, 5, 1, [])))
    assert list(asserted_sizes.compared_sizes(_error(_checks, 32, 4, []))) == [("bound", "32 15")]
    assert list(asserted_sizes.compared_sizes(_error(_checks, 3, 4, []))) == [("bound", "3 8")]


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        ("the gain is 64, and has to be between 2 and 6", ["gain=4", "gain=2", "gain=6"]),
        ("gain 64 exceeds 32", ["gain=32"]),
        ("gain 64 must be less than 10", ["gain=9"]),
        ("gain must be at least 3", []),
        ("gain 64 is wrong", []),
    ],
)
def test_a_range_in_a_message_is_kept_to(said: str, passed: list[str]) -> None:
    arguments = agent_module("inputs.synthesis.terms.arguments")
    unknowns = agent_module("inputs.synthesis.terms.dimensions").Unknowns()
    gain = arguments.UnknownInteger(unknowns.get("gain=", 64).name)
    given = agent_module("inputs.synthesis.terms.candidate").Candidate(arguments.Arguments((("gain", gain),)), unknowns)
    assert [each.text for each in number_ranges.with_number_in_bounds(given, ValueError(said))] == passed
