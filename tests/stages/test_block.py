"""A transformer block with training, on three versions of torch: each line leads to its kernels, as torch's own provenance has them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.model import StageKind
from compile_lens.stages.opened import read_stages
from compile_lens.stages.provenance import STACKS
from compile_lens.trace.builder import read_report
from compile_lens.trace.stack_text import parse_stack

DATA = Path(__file__).parent.parent / "data" / "stages"
TRACES = sorted(DATA.glob("*block_*.log.gz"))
PROGRAM = "/cluster/job/block.py"
SOURCE = (DATA / "block.py").read_text().split("\n")
# the lines of `forward`, all of which compute
LINES = range(SOURCE.index("    def forward(self, x):") + 2, SOURCE.index("block = torch.compile(Block())") - 1)

pytestmark = pytest.mark.parametrize(
    "trace", TRACES, ids=lambda trace: trace.name.split("_")[-1].removesuffix(".log.gz")
)


def lines_of(file: str) -> list[str] | None:
    return SOURCE if file == PROGRAM else None


@cache
def stages(trace: Path) -> OpenedStages:
    return read_stages(trace, lines_of)


def test_each_line_has_kernels_in_both_directions(trace: Path) -> None:
    assert len(LINES) == 4
    for line in LINES:
        graphs = {kernel.graph for kernel in stages(trace).kernels_at(PROGRAM, line)}
        assert graphs == {"0_0/forward", "0_0/backward"}, SOURCE[line - 1]


def test_the_lines_of_each_kernel_are_those_that_torch_has_for_it(trace: Path) -> None:
    """The artifacts are read here as they are, in the order in which torch writes them."""
    tables = [
        json.loads(artifact.payload.text() or "{}")
        for artifact in read_report(trace).artifacts
        if artifact.name == STACKS
    ]
    assert len(tables) == 2
    for graph, table in zip(stages(trace).graphs, tables, strict=True):
        own = {call: texts for call, texts in table.items() if call in {kernel.call for kernel in graph.kernels}}
        assert len(own) == len(graph.kernels)
        for kernel in graph.kernels:
            expected = {parse_stack(text)[-1].line for text in own[kernel.call]}
            assert {span.line for span in kernel.sources} == expected
            assert not kernel.is_by_frame


def test_a_part_of_a_line_has_the_kernels_of_that_part(trace: Path) -> None:
    """``self.qkv(self.before(x))``: the norm and the product are on one line, and in different kernels."""
    line = LINES[0]
    norm = SOURCE[line - 1].index("self.before(x)") + 1
    kernels = [k for k in stages(trace).kernels_at(PROGRAM, line, norm + 6) if k.graph == "0_0/forward"]
    products = [k for k in kernels if k.name == "extern_kernels.addmm"]
    assert any("layer_norm" in kernel.name for kernel in kernels)
    columns = {span.column for kernel in kernels for span in kernel.sources if span.line == line}
    if None not in columns:  # torch 2.13 and Python 3.11 write them
        assert norm in columns and products


def test_every_line_of_the_code_leads_back(trace: Path) -> None:
    for graph in stages(trace).graphs:
        code = graph.stage(StageKind.OUTPUT_CODE)
        assert code is not None
        links = stages(trace).links_of(code)
        for kernel in graph.kernels:
            for part in kernel.lines:
                for number in range(part.first, part.last + 1):
                    assert kernel.call in links.kernels[number] and links.sources[number]
        for line in LINES:
            assert stages(trace).lines_at(code, PROGRAM, line)
