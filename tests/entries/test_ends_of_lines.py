"""A file may have other ends of lines than this system's: what a search reads of it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

# a comment that tells the shape, and a body that unpacks it; a form feed ends no line of Python's
MODEL = """\
import torch

\x0c
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(
        self,
        x,  # (batch, 5, 7)
        y,
    ):

        a, b, c, d = y.shape

        return x.sum() + y.reshape(a * b, c * d).sum()
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "windows", "old"])
def test_what_is_read_of_a_file_with_other_ends_of_lines(tmp_path: Path, warm_host: WarmHost, end: str) -> None:
    file = tmp_path / "net.py"
    file.write_bytes(MODEL.replace("\n", end).encode())
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_bytes().decode(), None))
    (call,) = outcome.calls
    assert call.inputs.startswith("x: float32[2, 5, 7], y: float32["), call
    assert call.inputs.count(",") == 6, "y has four dimensions"
    assert call.target == "Net"


def test_the_comment_of_an_assignment_is_of_its_result(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        x = x.unsqueeze(1).unsqueeze(-1)  # (1024, 1, 1)\n"
        "        return torch.nn.functional.conv2d(x, torch.ones(1, 1, 3, 1))\n"
    )
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_text(), None))
    (call,) = outcome.calls
    assert "1024" not in call.inputs, call
