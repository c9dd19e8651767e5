"""Variables that a program sets before it imports torch decide as in a plain run, though the standby has imported torch before."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.outcome import Status
from compile_lens.workers.job import Depth
from warm_host import WarmHost

BODY = """

@torch.compile
def f(x):
    return x * x.sum().item()


f(torch.ones(3))
"""
SET = 'os.environ["TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS"] = "1"\n'
UNSET = 'del os.environ["TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS"]\n'


def codes(folder: Path, host: WarmHost, text: str) -> list[str]:
    file = folder / f"program_{len(list(folder.iterdir()))}.py"
    file.write_text(text)
    found = host.analyze(file, Depth.DYNAMO).outcome
    assert found.status is Status.OK, found.findings
    return [finding.code for finding in found.findings]


@pytest.mark.parametrize(
    ("before", "has_break"),
    [
        (SET + "import torch", False),
        ("import torch\n" + SET, True),
        ("from torch import nn\n" + SET + "import torch", True),
        ("import transformers\n" + SET + "import torch", True),
        (SET + UNSET + "import torch", True),
        (SET + UNSET + SET + "import torch", False),
        ('os.environ.update(TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS="1", OTHER="1")\nimport torch', False),
        ('os.putenv("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "1")\nimport torch', True),
    ],
)
def test_a_variable_counts_until_torch_is_imported(
    tmp_path: Path, warm_host: WarmHost, before: str, has_break: bool
) -> None:
    text = f"import os\n{before}\n{BODY}"
    assert codes(tmp_path, warm_host, text) == (["GB0124"] if has_break else [])


def test_what_the_program_sees_of_its_environment_is_its_own(tmp_path: Path, warm_host: WarmHost) -> None:
    looks = """
assert os.environ["TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS"] == "1"
assert torch._dynamo.config.capture_scalar_outputs
torch._dynamo.config.capture_scalar_outputs = False
"""
    assert codes(tmp_path, warm_host, f"import os\n{SET}import torch\n{looks}{BODY}") == ["GB0124"]


def test_compilation_that_is_turned_off_is_told(tmp_path: Path, warm_host: WarmHost) -> None:
    off = 'import os\nos.environ["TORCH_COMPILE_DISABLE"] = "1"\nimport torch\n'
    assert codes(tmp_path, warm_host, off + BODY) == ["not-compiled"]


def test_a_program_that_hides_the_gpus_has_none(tmp_path: Path, warm_host: WarmHost) -> None:
    program = """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import torch
assert not torch.cuda.is_available()
"""
    assert codes(tmp_path, warm_host, program + BODY) == ["GB0124"]
    shown = program.replace('"-1"', '"0"').replace("not ", "")
    assert "cpu-for-gpu" in codes(tmp_path, warm_host, shown + BODY)
