"""What follows from arguments of our choosing is no warning of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Severity
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

WRAPPER = """\
import torch
from torch import nn


class Wrapper(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        return self.block(x)

    def compiled(self):
        self.forward = torch.compile(self.forward)
        return self
"""


@pytest.mark.parametrize(
    ("end", "entry", "severity"),
    [
        # a part that does nothing is ours
        ("", "synthesized", Severity.INFORMATION),
        # … and the user's
        ("\n\nWrapper(nn.Identity()).compiled().forward(torch.ones(3))\n", "script", Severity.WARNING),
    ],
)
def test_a_region_that_our_arguments_leave_without_operations(
    tmp_path: Path, warm_host: WarmHost, end: str, entry: str, severity: Severity
) -> None:
    file = tmp_path / "wrapper.py"
    file.write_text(WRAPPER + end)
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_text(), None, entry))
    (finding,) = [each for each in outcome.findings if each.code == "not-compiled"]
    assert finding.severity is severity
    assert ("were made up" in finding.explanation) is (entry == "synthesized")
