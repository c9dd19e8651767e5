"""Classes whose bases are not installed: models become plain modules, others keep what they are passed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.test_entry_runs import codes, run, write

from compile_lens.pipeline.entry_choice import choose
from compile_lens.workers.job import Substitution
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
PROGRAM = """\
import torch
from torch import nn
from absent_lightning import Callback, LightningModule
from absent_hub import HubMixin
from absent_engine import MODELS
from absent_library import PretrainedConfig, PreTrainedModel

__import__("absent_namespaces").declare_namespace(__name__)
try:
    from absent_other import Own
except ImportError:
    Own = nn.Module  # a fallback of the program is its own


class Stop(Callback):
    def on_end(self, trainer):
        trainer.stop()


class Settings(PretrainedConfig):
    def __init__(self, width=32, **kwargs):
        super().__init__(**kwargs)
        self.width = width


class Base(LightningModule):
    def __init__(self, width=16, rate=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.rate = self.hparams.rate

    def training_step(self, batch, index):
        self.log("loss", self(batch).mean())


class Net(Base):
    def __init__(self, width=16):
        if isinstance(width, MODELS.Space):
            width = width.n
        super().__init__(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        y = self.fc(x) + torch.ones(1, device=self.device)
        if y.sum() > 0:
            y = y * 2
        return y


@MODELS.register_module(name="tagged")
class Tagged(nn.Module, HubMixin, library="x"):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x).relu()


class Plain(Own):
    def forward(self, x):
        return x.sin()


class Pretrained(PreTrainedModel):
    def __init__(self, config: Settings):
        super().__init__(config, gain=2.0)
        self.fc = nn.Linear(config.width, 4)
        self.post_init()

    def forward(self, x):
        return self.fc(x) * self.config.width * self.gain
"""
INSTALLED = """\
import sys
from types import SimpleNamespace
from compile_lens.agent.inputs.importing import missing_imports

folder = sys.argv[1]
sys.path[:0] = [f"{folder}/library", f"{folder}/project"]
missing_imports.install(f"{folder}/project/uses.py", SimpleNamespace(tell=lambda event: print(event.module)))
import uses
"""


def test_models_whose_bases_are_not_installed(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, PROGRAM))
    assert {call.target for call in outcome.calls} == {"Base", "Net", "Tagged", "Plain", "Pretrained"}
    assert codes(outcome) == [("GB0170", PROGRAM[: PROGRAM.index("if y.sum()")].count("\n") + 1)]
    (note,) = [note for note in outcome.notes if "absent_engine" in note]
    assert "absent_other" not in note
    assert note.endswith("were replaced with stubs. Calls that need more raise the import error.")
    assert (
        "Models that inherit from `absent_lightning`, `absent_hub`, `absent_library` are plain modules."
        in outcome.notes
    )


def test_stubs_can_be_turned_off(tmp_path: Path, warm_host: WarmHost) -> None:
    text = "import torch\nfrom absent_engine import Net\n\n\nclass Model(Net):\n    def forward(self, x):\n        return x\n"
    file = write(tmp_path, text)
    outcome = warm_host.run_choice(str(file), choose(str(file), text, None, ""), missing_modules=Substitution.OFF)
    assert not outcome.calls
    assert not any("stub" in note for note in outcome.notes)
    assert ("run-error", 2) in codes(outcome)


def test_a_library_that_needs_what_is_not_installed(tmp_path: Path) -> None:
    write(tmp_path, "import absent_for_library\n", "library/needy.py")
    write(tmp_path, "try:\n    import absent_too\nexcept ImportError:\n    absent_too = None\n", "library/tolerant.py")
    write(tmp_path, "", "project/pyproject.toml")
    write(tmp_path, "import needy\nimport tolerant\nprint(tolerant.absent_too)\n", "project/uses.py")
    # a process of its own: pytest's frames handle any error, and would be taken for the program's
    done = subprocess.run(
        [sys.executable, "-c", INSTALLED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["absent_for_library", "None"]


def test_the_compiler_may_ask_whether_it_knows_what_a_stub_is() -> None:
    error = ModuleNotFoundError("No module named 'bars'")
    bar = agent_module("inputs.importing.absent").StubModule("bars", error).bar
    asked = "truth = bool(bar)"
    names = {"__name__": "torch._dynamo.symbolic_convert", "bar": bar}
    exec(asked, names)
    assert names["truth"] is True
    with pytest.raises(ModuleNotFoundError, match="bars"):
        exec(asked, {"__name__": "program", "bar": bar})


def test_what_a_file_can_do_without_is_stubbed_nowhere_in_it(tmp_path: Path) -> None:
    """A stub for the line that needs it would be there for the line that does not, too."""
    uses = """\
import absent_logger

def fast():
    from absent_kernels import product
    return product

def chosen():
    try:
        import absent_kernels.cuda
        return fast
    except ImportError:
        return None
"""
    write(tmp_path, "", "project/pyproject.toml")
    write(tmp_path, uses, "project/parts.py")
    # no line of the project handles the first call: its end is looked at from outside
    write(tmp_path, "import torch\nimport parts\nprint(parts.chosen())\nparts.fast()\n", "project/uses.py")
    done = subprocess.run([sys.executable, "-c", INSTALLED, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["absent_logger", "None"], done.stderr
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'absent_kernels'"
