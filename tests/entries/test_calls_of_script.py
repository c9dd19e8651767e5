"""The calls of its model that a script makes: each once, those of other sizes and after a change of the model too, also where one of
several imports fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run
from tests.entries.sources import TELLS_HALF

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = """\
import no_such_library
import torch
from math import sqrt, no_such_name


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.count = 0

    def forward(self, x):
        return self.layer(x).relu()


net = Net()
"""


def recompiles(folder: Path, host: WarmHost, calls: str) -> list[str]:
    project(folder, {"train.py": NET + calls})
    outcome = run(host, folder / "train.py", "model")
    assert outcome.entry == "model"
    return [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE]


def lines_of_breaks(folder: Path, host: WarmHost, text: str) -> list[int]:
    project(folder, {"train.py": text})
    outcome = run(host, folder / "train.py", "model")
    assert outcome.graphs
    return [finding.place.line for finding in outcome.findings if finding.kind is Kind.GRAPH_BREAK]


def test_the_last_batch_of_an_epoch_is_of_another_size(tmp_path: Path, warm_host: WarmHost) -> None:
    found = recompiles(
        tmp_path, warm_host, "for batch in torch.randn(326, 8).split(int(sqrt(4096))):\n    net(batch)\n"
    )
    assert found == ["Recompiled `forward`: size 0 of `x` changed (64 → 6)."]


def test_a_call_that_the_script_makes_once_is_made_once(tmp_path: Path, warm_host: WarmHost) -> None:
    counting = "def count(module, inputs, output):\n    module.count += len(inputs)\n\n\n"
    hooked = f"{counting}net.layer.count = 0\nnet.layer.register_forward_hook(count)\nnet(torch.randn(2, 8))\n"
    assert recompiles(tmp_path, warm_host, hooked) == []


def test_what_torch_compiles_for_a_module_of_its_own_stands_where_the_model_is(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    own = "layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())\nfor size in (4, 3):\n    layers(torch.randn(size, 8))\n"
    project(tmp_path, {"train.py": f"import no_such_library\nimport torch\n\n{own}"})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    (recompile,) = [finding for finding in outcome.findings if finding.kind is Kind.RECOMPILE]
    assert (recompile.place.file, recompile.place.line) == (str(tmp_path / "train.py"), 4)


COOLED = NET.replace("self.layer(x)", "self.layer(x / self.temperature)").replace("count = 0", "temperature = 1.0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("net.temperature *= 0.5", "Recompiled `forward`: `self.temperature` changed (was 1.0)."),
        (
            "net.layer.weight.requires_grad_(epoch > 0)",
            "Recompiled `forward`: `requires_grad` of `self.layer.weight` changed (True → False).",
        ),
    ],
)
def test_what_the_script_changes_of_its_model_between_calls(
    tmp_path: Path, warm_host: WarmHost, change: str, message: str
) -> None:
    epochs = "for epoch in range(3):\n    for batch in torch.randn(40, 8).split(8):\n        net(batch)\n"
    project(tmp_path, {"train.py": f"{COOLED}{epochs}    {change}\n"})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE] == [message]


def test_a_copy_of_the_model_hides_no_call_of_the_model(tmp_path: Path, warm_host: WarmHost) -> None:
    calls = "for size in (4, 4, 4, 4, 7):\n    net(torch.randn(size, 8)).sum().backward()\n"
    averaged = f"import copy\nother = copy.deepcopy(net)\n{calls}other(torch.randn(1, 8))\n"
    assert recompiles(tmp_path, warm_host, averaged) == ["Recompiled `forward`: size 0 of `x` changed (4 → 7)."]


REMEMBERS = NET.replace("return self", "self.seen.append(x)\n        return self").replace(
    "self.count = 0", "self.seen = []"
)


def test_what_a_later_call_keeps_shows_in_the_call_after_it(tmp_path: Path, warm_host: WarmHost) -> None:
    remembers = REMEMBERS.replace("self.seen.append(x)", "if len(x) == 1:\n            self.seen.append(x)")
    project(tmp_path, {"train.py": f"{remembers}for size in (4, 4, 4, 4, 1, 1, 1):\n    net(torch.randn(size, 8))\n"})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    found = [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE]
    assert found == [
        "Recompiled `forward`: size 0 of `x` changed (4 → 1).",
        "Recompiled `forward`: length of `self.seen` changed (0 → 1).",
    ]


CUTS = NET.replace("forward(self, x)", "forward(self, x, lengths)").replace(
    "self.layer(x)", "self.layer(x[:, : int(lengths.max())])"
)


def test_later_calls_have_the_values_that_the_script_passes(tmp_path: Path, warm_host: WarmHost) -> None:
    calls = "for i in range(3):\n    net(torch.randn(4, 10, 8), torch.tensor([10, 8 - i, 5, 3]))\n"
    project(tmp_path, {"train.py": CUTS + calls})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [finding.code for finding in outcome.findings if finding.kind is Kind.GRAPH_BREAK] == ["GB0124"]
    assert [finding.message for finding in outcome.findings if finding.kind is Kind.RECOMPILE] == []


SKIPS = NET.replace("return self", "if self.training and self.rate:\n            print(x.sum())\n        return self")


def test_a_model_that_is_checked_before_its_training_is_trained_as_the_script_does(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    checked = "net.rate = 0\nnet.eval()\nnet(torch.randn(2, 8))\nnet.train()\nnet.rate = 0.5\nnet(torch.randn(2, 8))\n"
    assert lines_of_breaks(tmp_path, warm_host, SKIPS + checked) == [14]


LABELED = NET.replace("forward(self, x)", "forward(self, x, labels=None)").replace(
    "return self", "if labels is None:\n            print(x.sum())\n        return self"
)


def test_calls_without_labels_are_among_them_however_many_sizes_came_before(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    training = "for size in (2, 3, 4, 5, 6, 7):\n    net(torch.randn(size, 8), torch.randn(size))\n"
    assert lines_of_breaks(tmp_path, warm_host, f"{LABELED}{training}net(torch.randn(7, 8))\n") == [14]


WATCHING = """
class Watching:
    def __init__(self, model):
        self.model, self.largest = model, 0.0

    def __enter__(self):
        self.handle = self.model.layer.register_forward_hook(self.note)

    def __exit__(self, *_):
        self.handle.remove()

    def note(self, module, inputs, output):
        self.largest = max(self.largest, output.max().item())


with Watching(net):
    net(torch.randn(2, 8))
"""
AUTOCAST = f"""
{TELLS_HALF}

mixed = Mixed()
with torch.autocast("cpu", dtype=torch.bfloat16):
    mixed(torch.randn(2, 8))
"""


@pytest.mark.parametrize(
    "calls, line", [(WATCHING, "self.largest = max("), (AUTOCAST, 'print("in half')], ids=["hooks", "autocast"]
)
def test_what_a_block_of_the_script_sets_is_there_when_its_model_is_compiled(
    tmp_path: Path, warm_host: WarmHost, calls: str, line: str
) -> None:
    text = NET + calls
    wanted = next(number for number, each in enumerate(text.splitlines(), 1) if line in each)
    assert wanted in lines_of_breaks(tmp_path, warm_host, text)


SUMMARY = """
with Watching(net):
    net(torch.randn(2, 8))
for batch in torch.randn(6, 8).split(2):
    net(batch)
"""
LEFT = """
watching = Watching(net)
watching.__enter__()
net(torch.randn(2, 8))
watching.__exit__()
for batch in torch.randn(6, 8).split(2):
    net(batch)
"""


@pytest.mark.parametrize("calls", [SUMMARY, LEFT], ids=["in a block", "removed later"])
def test_what_is_around_the_first_call_alone_is_not_around_those_that_follow(
    tmp_path: Path, warm_host: WarmHost, calls: str
) -> None:
    text = NET + WATCHING.partition("\n\nwith Watching")[0] + calls
    assert not lines_of_breaks(tmp_path, warm_host, text)
