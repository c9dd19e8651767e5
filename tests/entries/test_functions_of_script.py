"""A script that builds no model is analyzed by the functions that it calls with tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

OPTIMIZATION = """\
import torch
from physics.grid import Grid


def damped(x, k):
    return torch.sin(x) * k


def energy(x, k=2.0):
    y = damped(x, k)
    if y.sum() > 0:  # the break
        y = y * 2
    return (y ** 2).sum()


def numbers(x):
    yield from x


def fit(x):
    optimizer = torch.optim.SGD([x], lr=0.1)
    for step in range(20):
        optimizer.zero_grad()
        loss = energy(x)
        loss.backward()
        optimizer.step()
    return x


def main():
    with open("none/start.txt") as file:
        start = float(file.read())
    x = torch.randn(8, requires_grad=True)
    fit(x)
    grid = Grid(8)
    for time in range(10):
        print(grid.smooth(x.detach()).sum().item(), len(list(numbers(x))))
    try:
        energy(torch.ones(3), open("none/factor.txt"))
    except OSError:
        pass


if __name__ == "__main__":
    main()
"""
GRID = """\
import torch


class Grid:
    def __init__(self, count):
        self.points = torch.linspace(0, 1, count)
        self.scale(torch.ones(1))

    def scale(self, factor):
        self.points = self.points * factor
        return self.points

    def smooth(self, values):
        print("smoothing")
        return values * self.points
"""


def run(host: WarmHost, folder: Path, files: dict[str, str], name: str) -> Outcome:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    file = folder / name
    return host.run_choice(str(file), choose(str(file), file.read_text(), None, ""))


def graph_breaks(outcome: Outcome) -> list[tuple[str, int]]:
    return [(f.place.file.rpartition("/")[2], f.place.line) for f in outcome.findings if f.code.startswith("GB")]


def test_the_outermost_functions_of_an_optimization_that_builds_no_model(tmp_path: Path, warm_host: WarmHost) -> None:
    files = {"setup.py": "", "physics/__init__.py": "", "physics/grid.py": GRID, "fit.py": OPTIMIZATION}
    outcome = run(warm_host, tmp_path, files, "fit.py")
    assert outcome.entry == "model"
    assert outcome.entry_title == "functions that the script calls, as if they were compiled"
    # not the loop that trains, nor what `energy` calls; the method of the project's class after the file's own
    assert [(call.making, call.inputs) for call in outcome.calls] == [
        ("energy from line 24", "float32[8], 2.0"),
        ("Grid.smooth from line 37", "float32[8]"),
    ]
    # in the code as it is written: no guards of ours around its statements
    assert sorted(graph_breaks(outcome)) == [("fit.py", 11), ("grid.py", 14)]
    assert outcome.coverage is not None
    assert [unit.name for unit in outcome.coverage.units if not unit.reason] == ["damped"]
    assert not [f for f in outcome.findings if f.severity is Severity.ERROR and f.code != "missing-data"]


def test_calls_keep_the_values_that_the_script_passed(tmp_path: Path, warm_host: WarmHost) -> None:
    script = """\
import torch

def advance(state, dt):
    if state[0] != 1:
        raise ValueError("not the state that the script began with")
    state += dt
    return None

def around(factor):
    def scaled(x, *rest, power=1, **more):
        return x * factor ** power + len(rest) + len(more)
    return scaled(torch.ones(3), 1, 2, power=2, other=3)

state = torch.ones(4)
advance(state, 0.5)
total = around(2.0)
mapped = torch.func.vmap(lambda row: row.sum())(torch.ones(2, 3))
"""
    outcome = run(warm_host, tmp_path, {"run.py": script}, "run.py")
    assert [(call.making, call.inputs) for call in outcome.calls] == [
        ("scaled from line 12", "float32[3], 1, 2, power: 2, other: 3"),
        ("advance from line 15", "float32[4], 0.5"),
    ]
    assert outcome.graphs >= 2
    assert not [f.message for f in outcome.findings if f.severity is Severity.ERROR]


def test_a_script_that_calls_nothing_with_tensors_says_so(tmp_path: Path, warm_host: WarmHost) -> None:
    script = "import torch\n\ndef words(count):\n    return 'x' * count\n\nprint(words(3))\n"
    outcome = run(warm_host, tmp_path, {"run.py": script}, "run.py")
    assert not outcome.calls
    said = [way.reason for way in outcome.passed_over]
    assert (
        "The entry model cannot be used: it builds no model, and calls no function of its project with tensors." in said
    )


def test_nothing_of_the_program_runs_because_it_is_looked_at(tmp_path: Path, warm_host: WarmHost) -> None:
    script = """\
import torch

class Options(dict):
    def __getattr__(self, name):
        if name not in self:
            print("asked for", name)
        return self[name]

class Rows(list):
    def __getitem__(self, at):
        raise KeyError(at)

def energy(x, options):
    return (x * options.scale).sum()

def first(x, rows):
    return x + len(rows)

options = Options(scale=2.0)
for step in range(3):
    energy(torch.ones(3), options)
    first(torch.ones(3), Rows([1]))
"""
    outcome = run(warm_host, tmp_path, {"fit.py": script}, "fit.py")
    assert "energy" in [call.target for call in outcome.calls]
    assert not [finding for finding in outcome.findings if finding.code == "run-error"]
    assert "asked for" not in outcome.output
