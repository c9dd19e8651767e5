"""Calls with made-up inputs are made as users make them: twice, in both modes, with optional arguments; and prepared where they must be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import codes, run, write

from compile_lens.analysis.finding import Kind, Severity
from compile_lens.analysis.outcome import Outcome
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
HEAD = "import torch\nfrom torch import nn\n\n\n"
VARIED = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.offset = None
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None, stop: bool = False):
        if self.offset is None:
            self.offset = torch.zeros(x.shape[-1])
        x = self.linear(x) + self.offset
        if mask is not None:
            x = x * mask.sum().item()
        if stop:
            torch._dynamo.graph_break()
        return self.dropout(x)
"""
)
PREPARED = (
    HEAD
    + """\
class Decoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.cache = None

    def setup_caches(self, max_batch_size, max_seq_length):
        self.cache = torch.zeros(max_batch_size, max_seq_length, 1)

    def forward(self, x):
        assert self.cache is not None, "caches must be initialized first"
        return self.linear(x) + self.cache[: x.shape[0], : x.shape[1]]
"""
)
LARGE = (
    HEAD
    + """\
class Large(nn.Module):
    def __init__(self, size=20_000):
        super().__init__()
        self.first = nn.Linear(size, size)

    def forward(self, x):
        y = self.first(x)
        print("half")
        return y + 1


class Deep(nn.Module):
    def __init__(self, depths=(3, 3, 27, 3), width=64):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(*(nn.Linear(width, width) for _ in range(depth))) for depth in depths)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x
"""
)
PARTLY = (
    HEAD
    + """\
class Part(nn.Module):
    def forward(self, x):
        return x + 1


class Whole(nn.Module):
    def __init__(self, names, table):
        super().__init__()
        self.rows = [table[name] for name in names]

    def forward(self, tokens):
        return tokens


class User(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x, inverse=False):
        if inverse is None:
            return -x
        return self.part(x)
"""
)


def of_variations(outcome: Outcome) -> dict[str, tuple[str, int]]:
    """Code and line of what calls in other ways cause, by their beginnings."""
    return {
        finding.message.partition(", `")[0]: (finding.code, finding.place.line)
        for finding in outcome.findings
        if finding.kind is Kind.VARIATION
    }


def test_a_call_is_made_again_in_other_modes_and_with_optional_arguments(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, VARIED))
    # one plain call neither breaks nor recompiles
    assert [code for code, _ in codes(outcome) if code != "side-effect"] == []
    assert [(function.graphs, function.recompiles) for function in outcome.functions] == [(1, 0)]
    found = of_variations(outcome)
    (mask,) = [phrase for phrase in found if "`mask=" in phrase]
    # sizes become dynamic at the first other one
    sizes = {
        phrase: found.pop(phrase) for phrase in list(found) if phrase.startswith(("With a batch", "With a length"))
    }
    assert {code for code, _ in sizes.values()} == {"would-recompile"}
    told = [
        f
        for f in outcome.findings
        if f.message.startswith("With a batch of 3, then 4, instead of 2 (`x`), `Net` would recompile once")
    ]
    assert [(f.severity, "size 0 of `x` changed (2 → 3)" in f.message) for f in told] == [(Severity.HINT, True)]
    assert found == {
        "With the same inputs again": ("would-recompile", 13),
        "With the model in eval mode (`.eval()`)": ("would-recompile", 20),
        mask: ("would-break", 17),
        "With `stop=True` instead of `False`": ("would-break", 19),
    }
    # a break hides no recompile
    assert {f.code for f in outcome.findings if f.kind is Kind.VARIATION and "`mask=" in f.message} == {
        "would-break",
        "would-recompile",
    }
    # that each grad mode has code of its own is no property of this file
    assert any("`torch.no_grad()` costs one more compilation" in n for n in outcome.notes)


def test_methods_that_set_what_the_call_reads_are_called_before(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, PREPARED))
    (call,) = outcome.calls
    assert call.making == "(m := Decoder(), m.setup_caches(max_batch_size=2, max_seq_length=64))[0]"
    assert codes(outcome) == []
    # the text that is shown can be given back
    again = run(warm_host, tmp_path / "model.py", call.text)
    assert (again.entry, again.graphs) == (call.text, 1)


def test_size_never_ends_a_check(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, LARGE))
    # 1.6 GB of weights, without memory; and fewer layers of each stage
    assert codes(outcome) == [("GB0059", 12)]
    assert {call.target: call.making for call in outcome.calls} == {
        "Large": "Large()",
        "Deep": "Deep(depths=(1, 1, 1, 1))",
    }


def test_coverage_is_of_what_ran(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, PARTLY))
    coverage = outcome.coverage
    assert coverage is not None
    assert [(unit.name, unit.is_analyzed) for unit in coverage.units] == [
        ("Part", True),
        ("Whole", False),
        ("User", True),
    ]
    assert not coverage.is_whole
    assert coverage.sentence.startswith("2 of 3 modules, ")
    (missing,) = coverage.missing
    assert "its constructor failed" in missing.reason
    assert missing.draft.startswith("Whole(names=")
    assert missing.draft.endswith(")(tokens=int64[2, 16] < 100)")


def test_a_whole_file_is_said_to_be_whole(tmp_path: Path, warm_host: WarmHost) -> None:
    source = HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    coverage = run(warm_host, write(tmp_path, source)).coverage
    assert coverage is not None
    assert coverage.is_whole
    assert coverage.sentence == "1 of 1 module, 100% of its lines"
