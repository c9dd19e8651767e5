"""A script that cannot run to its end here is analyzed all the same: the model that it makes, with what it passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import graph_breaks, project, run
from tests.entries.test_entry_runs import codes

from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(layers))

    def forward(self, x, y=None):
        for layer in self.layers:
            x = layer(x).relu()
        if y is not None:
            if x.sum() > 0:  # the break
                x = x + 1
            return torch.nn.functional.mse_loss(x, y)
        return x
"""
TRAIN = """\
import argparse
import no_such_logger
import torch
from parts.net import Net


def load(path):
    return torch.load(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--data", {data})
    args = parser.parse_args()
    no_such_logger.init(project="x")
    data = load(args.data)
    model = Net(args.width, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(100):
        for x, y in data:
            loss = model(x, y)
            loss.backward()
            optimizer.step()
            no_such_logger.log({{"loss": loss.item()}})


if __name__ == "__main__":
    main()
"""


MOVED = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.a(x)

net = Net().to("meta")
for batch in open("missing/data.txt"):
    net(batch).sum().backward()
"""


def errors(outcome: Outcome) -> list[str]:
    return [finding.message for finding in outcome.findings if finding.severity is Severity.ERROR]


def test_the_model_of_a_training_script_whose_data_are_missing(tmp_path: Path, warm_host: WarmHost) -> None:
    train = TRAIN.format(data="default='none/data.pt'")
    project(
        tmp_path,
        {"pyproject.toml": "", "src/parts/__init__.py": "", "src/parts/net.py": NET, "scripts/train.py": train},
    )
    outcome = run(warm_host, tmp_path / "scripts/train.py")
    assert (outcome.entry, outcome.entry_title) == ("model", "the model that the script builds")
    # with the labels, because the script passes them: only so is the break reached
    assert graph_breaks(outcome) == [("net.py", 13)]
    (call,) = outcome.calls
    assert call.making == "Net from line 18"
    assert call.inputs.startswith("x: float32[") and ", 24], y: " in call.inputs
    (missing,) = [finding for finding in outcome.findings if finding.code == "missing-data"]
    assert (missing.severity, missing.place.line) == (Severity.INFORMATION, 8)
    assert not errors(outcome)
    notes = "\n".join(outcome.notes)
    assert f"Added the folder `{tmp_path}/src` to the import path for `parts`." in notes
    assert "`no_such_logger` is not installed and was replaced with a stub." in notes
    assert "Skipped statements that failed and those that need their results (lines 8, 21, 22, 23, 25)." in notes


def test_required_arguments_are_made_up_and_said(tmp_path: Path, warm_host: WarmHost) -> None:
    project(
        tmp_path, {"src/parts/net.py": NET, "src/parts/__init__.py": "", "train.py": TRAIN.format(data="required=True")}
    )
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert graph_breaks(outcome) == [("net.py", 13)]
    assert not errors(outcome)
    assert any("Made up the required arguments `--data`." in note for note in outcome.notes)


def test_inputs_that_the_script_has_are_used_as_they_are(tmp_path: Path, warm_host: WarmHost) -> None:
    script = NET + (
        "\n\nmodel = Net(6, 2)\nwith torch.no_grad():\n    for size in (4, 5):\n        print(model(torch.ones(size, 6)).shape)\n"
        "raise SystemExit('the end')\n"
    )
    project(tmp_path, {"run.py": script})
    outcome = run(warm_host, tmp_path / "run.py")
    assert outcome.entry == "model"
    assert [call.inputs for call in outcome.calls] == ["float32[4, 6]"]  # and then the other size
    assert [f.code for f in outcome.findings if f.code.startswith("recompile")] or outcome.graphs == 2


def test_errors_that_the_program_handles_stay_its_own(tmp_path: Path, warm_host: WarmHost) -> None:
    script = NET + (
        "\n\ndef width():\n    return {}['width']\n\n\ntry:\n    size = width()\nexcept KeyError:\n    size = 10\n"
        "net = Net(size, 1)\nnet(torch.ones(2, size))\n"
    )
    project(tmp_path, {"run.py": script})
    outcome = run(warm_host, tmp_path / "run.py")
    assert [call.inputs for call in outcome.calls] == ["float32[2, 10]"]
    assert not outcome.notes or "Skipped" not in "".join(outcome.notes)


def test_a_construction_that_needs_the_data_is_made_with_what_is_known(tmp_path: Path, warm_host: WarmHost) -> None:
    script = (
        NET
        + "\n\nDEPTH = 3\nvocabulary = open('none.txt').read().split()\nmodel = Net(len(vocabulary), layers=DEPTH)\nmodel(1)\n"
    )
    project(tmp_path, {"run.py": script})
    outcome = run(warm_host, tmp_path / "run.py")
    assert outcome.entry == "model"
    assert "layers=3" in outcome.calls[0].making


DEFINITIONS = """\
import torch

SIZES = open("sizes.txt").read().split()
WIDTH = len(SIZES)


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        print(x)
        return self.layer(x)
"""


def test_definitions_below_a_failing_statement_are_reached(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"net.py": DEFINITIONS})
    outcome = run(warm_host, tmp_path / "net.py")
    assert [call.target for call in outcome.calls] == ["Small"]
    assert codes(outcome) == [("missing-data", 3), ("GB0059", 13)]
    assert any(
        "Skipped statements that failed and those that need their results (lines 3, 4)." in note
        for note in outcome.notes
    )


def test_a_program_that_handles_its_end_has_no_error_for_it(tmp_path: Path, warm_host: WarmHost) -> None:
    source = (
        "import sys\nimport torch\n\nmodel = torch.nn.Sequential(torch.nn.Linear(4, 4))\ntry:\n    for _ in range(200):\n"
        "        model(torch.ones(2, 4))\nexcept BaseException:\n    sys.exit(1)\n"
    )
    project(tmp_path, {"checks.py": source})
    outcome = run(warm_host, tmp_path / "checks.py")
    assert outcome.entry == "model"
    assert not errors(outcome)


def test_the_exception_of_an_import_is_the_message(tmp_path: Path, warm_host: WarmHost) -> None:
    project(
        tmp_path,
        {
            "net.py": "import torch\nfrom torch import no_such_base\n\n\n"
            "class Net(no_such_base):\n    def forward(self, x):\n        return x\n"
        },
    )
    outcome = run(warm_host, tmp_path / "net.py")
    (message,) = errors(outcome)
    assert message.startswith("The program raised `ImportError`: cannot import name 'no_such_base'")
    assert outcome.findings[0].place.line == 2
    assert "Models that inherit from `torch.no_such_base` are plain modules." in outcome.notes


def test_relative_imports_of_a_namespace_package(tmp_path: Path, warm_host: WarmHost) -> None:
    net = (
        "import torch\nfrom ..sizes import WIDTH\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(WIDTH, 2)\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )
    project(tmp_path, {"space/sizes.py": "WIDTH = 12\n", "space/models/net.py": net})
    outcome = run(warm_host, tmp_path / "space/models/net.py")
    assert outcome.calls[0].inputs.endswith("12]")


def test_a_module_that_the_code_can_do_without_is_no_stub(tmp_path: Path, warm_host: WarmHost) -> None:
    source = (
        "import torch\ntry:\n    import no_such_kernels\nexcept ImportError:\n    no_such_kernels = None\nimport no_such_bar\n\n\n"
        "class Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        assert no_such_kernels is None\n"
        "        for i in no_such_bar.tqdm(range(2)):\n            x = x + i\n        return x\n\n\n"
        "class Needs(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return no_such_bar.kernel(x) + 1\n\n\n"
        "class Unpacks(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        a, b = no_such_bar.pair('ab')\n"
        "        return x if a == 'a' else -x\n"
    )
    project(tmp_path, {"net.py": source})
    outcome = run(warm_host, tmp_path / "net.py")
    assert [call.target for call in outcome.calls] == ["Net"]
    # neither what a kernel returns is known, nor what a name leads to: its letters are no results
    assert {one.target: one.reason for one in outcome.not_called} == dict.fromkeys(
        ("Needs", "Unpacks"),
        "ModuleNotFoundError: No module named 'no_such_bar': no call returns before it can be imported",
    )
    assert not errors(outcome)


def test_a_call_of_ours_that_fails_is_no_error_of_the_file(tmp_path: Path, warm_host: WarmHost) -> None:
    source = (
        "import torch\n\nCALLS = []\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        CALLS.append(1)\n"
        "        if len(CALLS) > 1:\n            raise IndexError('a guess that does not fit')\n        return x\n"
    )
    project(tmp_path, {"net.py": source})
    outcome = run(warm_host, tmp_path / "net.py")
    assert not errors(outcome)
    assert "a guess that does not fit" in {one.target: one.reason for one in outcome.not_called}["Net"]


def test_a_method_that_is_called_get_inputs(tmp_path: Path, warm_host: WarmHost) -> None:
    source = DEFINITIONS.replace('SIZES = open("sizes.txt").read().split()', "SIZES = []") + (
        "\n\nclass Loader:\n    def get_inputs(self, batch):\n        return batch['x']\n"
    )
    project(tmp_path, {"net.py": source})
    outcome = run(warm_host, tmp_path / "net.py")
    assert outcome.entry == "synthesized"
    assert [code for code, _ in codes(outcome)] == ["GB0059"]


def test_a_script_of_a_package_runs_as_its_module(tmp_path: Path, warm_host: WarmHost) -> None:
    script = "import torch\nfrom pkg.ops import double\n\ntorch.compile(double)(torch.ones(3))\n"
    # a file beside the script has the name of the package; `pkg.ops` cannot be imported before `pkg.tools`, which Python imports first
    files = {
        "pkg/__init__.py": "",
        "pkg/ops.py": "from pkg.tools.limits import FACTOR\n\n\ndef double(x):\n    return x * FACTOR\n",
        "pkg/tools/__init__.py": "from pkg.ops import double\n",
        "pkg/tools/limits.py": "FACTOR = 2\n",
        "pkg/tools/pkg.py": "",
        "pkg/tools/main.py": script,
    }
    project(tmp_path, files)
    outcome = run(warm_host, tmp_path / "pkg/tools/main.py")
    assert (outcome.entry, outcome.graphs, errors(outcome)) == ("script", 1, [])
    assert any(note.startswith("Ran like `python -m pkg.tools.main`") for note in outcome.notes)
    (tmp_path / "pkg/tools/__init__.py").write_text("from pkg.ops import no_such_name\n")
    (tmp_path / "pkg/ops.py").write_text("def double(x):\n    return x * 2\n")
    outcome = run(warm_host, tmp_path / "pkg/tools/main.py")
    # the file does not need its package: what that raises is told, and is no error
    assert (outcome.entry, outcome.graphs, errors(outcome)) == ("script", 1, [])
    assert any("Importing `pkg.tools` first failed (ImportError: " in note for note in outcome.notes)


def test_a_model_that_only_a_function_of_the_file_can_construct(tmp_path: Path, warm_host: WarmHost) -> None:
    source = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, plan):\n        super().__init__()\n"
        "        self.layers = torch.nn.Sequential(*[torch.nn.Conv2d(*plan['stages'][i], 1) for i in (0, 1)])\n\n"
        "    def forward(self, x):\n        return self.layers(x)\n\n\n"
        "def tiny(width=6):\n    return Net({'stages': [(3, width), (width, 2)]})\n"
    )
    project(tmp_path, {"net.py": source})
    outcome = run(warm_host, tmp_path / "net.py")
    # what the function passes, or what it returns
    assert [call.making for call in outcome.calls] == ["Net(plan={'stages': [(3, 6), (6, 2)]})"]
    assert outcome.graphs == 1


def test_a_folder_that_is_named_after_a_library_is_not_that_library(tmp_path: Path, warm_host: WarmHost) -> None:
    model = "from no_such_library import Encoder\nimport torch\n\n\nclass Net(torch.nn.Module):\n"
    model += "    def forward(self, x):\n        return x + 1\n"
    project(
        tmp_path,
        {
            "pyproject.toml": "",
            "examples/no_such_library/__init__.py": "",
            "examples/no_such_library/models/__init__.py": "",
            "examples/no_such_library/models/net.py": model,
        },
    )
    outcome = run(warm_host, tmp_path / "examples/no_such_library/models/net.py")
    assert any("`no_such_library`" in note and "stub" in note for note in outcome.notes), outcome.notes
    assert any(call.target == "Net" for call in outcome.calls)


def test_of_files_of_one_name_the_one_with_what_is_imported(tmp_path: Path, warm_host: WarmHost) -> None:
    model = "from helpers import scaled\nimport torch\n\n\nclass Net(torch.nn.Module):\n"
    model += "    def forward(self, x):\n        return scaled(x)\n"
    project(
        tmp_path,
        {
            "pyproject.toml": "",
            "models/net.py": model,
            "helpers.py": "def other(x):\n    return x\n",
            "tools/helpers.py": "def scaled(x):\n    return x * 2\n",
        },
    )
    outcome = run(warm_host, tmp_path / "models/net.py")
    assert any(call.target == "Net" for call in outcome.calls)
    assert outcome.graphs, outcome.findings


def test_inputs_are_made_where_the_program_has_moved_its_model(tmp_path: Path, warm_host: WarmHost) -> None:
    """To a GPU, mostly; of the devices of every machine, fake tensors tell the meta device from the CPU, too."""
    file = tmp_path / "train.py"
    file.write_text(MOVED)
    outcome = run(warm_host, file, "model")
    assert [call.target for call in outcome.calls] == ["Net"]
    assert errors(outcome) == []


def test_the_model_of_a_script_is_called_as_users_call_it(tmp_path: Path, warm_host: WarmHost) -> None:
    script = "import torch\n\nnet = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.1))\nnet(torch.ones(2, 8))\n"
    script += "\nif __name__ == '__main__':\n    print(net)\n"
    project(tmp_path, {"run.py": script})
    outcome = run(warm_host, tmp_path / "run.py", "model")
    (recompile,) = [finding for finding in outcome.findings if finding.code == "would-recompile"]
    assert recompile.message.startswith("With the model in eval mode")


TRACED = """\
import torch
import torch.fx


def scaled(x: torch.Tensor):
    return x * 2


net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
traced = torch.fx.symbolic_trace(net)
if __name__ == "__main__":
    from no_such_profiler import profile

    macs, params = profile(net[0], inputs=(torch.ones(2, 4),))
    print(scaled(net(torch.ones(2, 4))))
"""


def test_calls_of_a_tracer_are_none_and_a_script_is_about_its_model(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"run.py": TRACED})
    outcome = run(warm_host, tmp_path / "run.py")
    assert outcome.entry == "model"
    assert [call.inputs for call in outcome.calls] == ["float32[2, 4]"]
    assert graph_breaks(outcome) == []
    # what a profiler would have returned is not there: that is not the program's error
    assert errors(outcome) == ["The program raised `ModuleNotFoundError`: No module named 'no_such_profiler'."]


def test_a_model_whose_shapes_the_first_call_finds(tmp_path: Path, warm_host: WarmHost) -> None:
    program = (
        "import torch\n\nnet = torch.nn.Sequential(torch.nn.LazyLinear(8), torch.nn.ReLU(), torch.nn.LazyLinear(2))\n\n\n"
        "def train(x, y):\n    torch.nn.functional.mse_loss(net(x), y).backward()\n\n\n"
        "train(torch.ones(4, 16), torch.ones(4, 2))\n"
    )
    (tmp_path / "train.py").write_text(program)
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert outcome.graphs
    assert errors(outcome) == []


def test_what_a_missing_decorator_would_pass_is_no_mistake_of_the_call(tmp_path: Path, warm_host: WarmHost) -> None:
    program = (
        "import no_such_launcher\nimport torch\n\n\n@no_such_launcher.main(config='conf')\ndef main(cfg):\n"
        "    net = torch.nn.Linear(cfg.width, 2)\n    net(torch.ones(2, cfg.width)).sum().backward()\n\n\nmain()\n"
    )
    (tmp_path / "train.py").write_text(program)
    outcome = run(warm_host, tmp_path / "train.py", "script")
    (error,) = errors(outcome)
    assert "No module named 'no_such_launcher'" in error
    assert "missing 1 required" not in error
