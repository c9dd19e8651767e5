"""What would make it recompile: the verb, and that the program's own findings are not touched by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_check import write
from tests.command import Warm

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from compile_lens.pipeline.vary_target import to_vary
from compile_lens.workers.job import Job, VariationRequest
from warm_host import WarmHost

pytestmark = [pytest.mark.xdist_group("entries"), pytest.mark.usefixtures("warm_command")]

TRAINING = """\
import torch

model = torch.nn.Linear(4, 2)


@torch.compile
def step(batch, rate):
    loss = model(batch).sum() * rate
    torch._dynamo.graph_break()
    return -loss


@torch.compile
def other(x):
    return x + 1


other(torch.ones(3))
print("trains")
while True:
    step(torch.randn(8, 4), 0.5).backward()
"""


def named(outcome: Outcome, code: str) -> list[str]:
    return [finding.message for finding in outcome.findings if finding.code == code]


def test_a_program_that_does_not_end_is_varied_and_its_own_findings_stay(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "train.py"
    file.write_text(TRAINING)
    outcome = warm_host.run(Job(str(file), timeout_s=25, vary=VariationRequest(("step",))))
    assert outcome.status.value == "ok"
    # the one graph break is the program's; the graphs of variations are not counted
    assert [(region.name, region.graphs, region.breaks, region.recompiles) for region in outcome.regions] == [
        ("step", 2, 1, 0),
        ("other", 1, 0, 0),
    ]
    assert [f.code for f in outcome.findings if f.kind.value not in ("variation", "graph-break")] == []
    (summary,) = named(outcome, "varied")
    assert summary.startswith("Called `step` in ")
    recompiling = "\n".join(named(outcome, "would-recompile"))
    assert (
        "With a batch of 9, then 10, instead of 8 (`batch`), `step` would recompile: size 0 of `batch` changed (8 → 9)"
        in (recompiling)
    )
    assert (
        "With `torch.no_grad()` around the call, `step` would recompile: grad mode changed (on → off)." in recompiling
    )
    table = next(finding.explanation for finding in outcome.findings if finding.code == "varied")
    assert "[fails in eager, too: RuntimeError: mat1 and mat2 shapes cannot be multiplied" in table


def test_marked_dimensions_stay_so_and_made_up_inputs_are_varied(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "marked.py"
    file.write_text(
        "import torch\n\n@torch.compile\ndef f(x):\n    return x * 2\n\n"
        "x = torch.ones(6, 3)\ntorch._dynamo.mark_dynamic(x, 0)\nf(x)\n"
    )
    outcome = warm_host.run(Job(str(file), timeout_s=60, vary=VariationRequest()))
    table = next(finding.explanation for finding in outcome.findings if finding.code == "varied")
    assert "[no effect] a batch of 7, then 8, instead of 6 (`x`)" in table
    assert "[recompiles] `x.shape[1]` of 4, then 5, instead of 3" in table
    text = "import torch\n\ndef g(x: torch.Tensor, flip: bool = False):\n    return -x if flip else x + 1\n"
    file.write_text(text)
    choice = choose(str(file), text, None)
    made_up = warm_host.run_choice(str(file), choice, vary=VariationRequest())
    assert made_up.entry == "synthesized"
    assert any("`flip=True` instead of `False`" in message for message in named(made_up, "would-recompile"))


def test_what_a_name_means() -> None:
    text = (
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        "model = torch.compile(Net())\n@torch.compile\ndef f(x):\n    return x\ndef g(x):\n    return x\n"
    )
    assert to_vary(text, ()).regions == VariationRequest()
    assert to_vary(text, ("f",)).regions == VariationRequest(("f",))
    assert to_vary(text, ("Net",)).regions is not None
    assert to_vary(text, ("g",)) == type(to_vary(text, ()))(None, ("g",))


def test_the_verb(tmp_path: Path) -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor, n: int = 2):\n    return x.reshape(n, -1)\n"
    write(tmp_path, "f.py", source)
    done = Warm(["vary", "f.py", "f"], tmp_path)
    assert done.code == 0
    assert "Called `f` in " in done.out
    assert "Analyzed with synthesized inputs." in done.out
    nothing = Warm(["vary", "f.py", "nothing"], tmp_path)
    assert (nothing.code, nothing.out) == (2, "")
    assert "defines no class or function 'nothing'" in nothing.err
    missing = Warm(["vary", "missing.py"], tmp_path)
    assert missing.code == 2
    assert "missing.py" in missing.err
