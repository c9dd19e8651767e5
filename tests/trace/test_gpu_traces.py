"""Real traces of GPU runs, against what the same runs printed under TORCH_LOGS=graph_breaks,recompiles."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.trace.builder import read_report
from compile_lens.trace.files import trace_files

DATA = Path(__file__).parent.parent / "data"
SINGLE = DATA / "h200-single"
BREAK = re.compile(r"Graph break .*?(?:in user code at) (?P<file>\S+):(?P<line>\d+)$")
RECOMPILE = re.compile(
    r"\[(?P<id>\d+/\d+)\] \[__recompiles\] Recompiling function (?P<name>\S+) in (?P<file>\S+):(?P<line>\d+)$"
)
GUARD = re.compile(r"\[(?P<id>\d+/\d+)\] \[__recompiles\]     - (?P<against>\d+/\d+): (?P<guard>.*)$")


def printed() -> list[str]:
    with gzip.open(SINGLE / "stdout.log.gz", "rt") as log:
        return log.read().splitlines()


def outcome(folder: Path) -> list[Outcome]:
    return [read_recorded(file, (("/cluster/job", str(folder)),)).outcome for file in trace_files(folder)]


@pytest.mark.parametrize("folder", [SINGLE, DATA / "h200-ddp"], ids=lambda folder: folder.name)
def test_every_record_is_known(folder: Path) -> None:
    for file in trace_files(folder):
        report = read_report(file)
        assert report.records > 50
        assert report.corrupt == 0
        assert not report.unknown


def test_breaks_are_those_that_torch_printed() -> None:
    expected = Counter((m["file"], int(m["line"])) for line in printed() if (m := BREAK.search(line)))
    report = read_report(trace_files(SINGLE)[0])
    assert Counter((found.file, found.line) for found in report.breaks) == expected
    (run,) = outcome(SINGLE)
    expected = Counter({(str(SINGLE / Path(file).name), line): count for (file, line), count in expected.items()})
    found = Counter()
    for finding in run.findings:
        if finding.kind is Kind.GRAPH_BREAK:
            found[finding.place.file, finding.place.line] += finding.count
    assert found == expected


def test_recompiles_are_those_that_torch_printed() -> None:
    lines = printed()
    expected = [(m["id"], m["name"], m["file"], int(m["line"])) for line in lines if (m := RECOMPILE.search(line))]
    report = read_report(trace_files(SINGLE)[0])
    found = [(c.compile_id, c.name, c.file, c.line) for c in report.compilations if c.recompile]
    assert sorted(found) == sorted(expected)
    guards = {
        (m["id"], m["against"], m["guard"].partition("  #")[0].strip()) for line in lines if (m := GUARD.search(line))
    }
    ours = {(r.compile_id, f.against, f.guard) for r in report.recompiles for f in r.failures}
    assert ours == guards
    (run,) = outcome(SINGLE)
    frames = [frame for finding in run.findings if finding.kind is Kind.RECOMPILE for frame in finding.frames]
    assert sorted(frames) == sorted(compile_id for compile_id, *_ in expected)


def test_findings_stand_at_the_expression() -> None:
    (run,) = outcome(SINGLE)
    text = (SINGLE / "gpu_single.py").read_text().splitlines()
    ranges = {
        (finding.code, text[finding.place.line - 1][finding.place.column - 1 : finding.place.end_column - 1])
        for finding in run.findings
    }
    assert ("GB0170", "x.abs().max() > 1e4") in ranges
    assert ("GB0036", "(top == i).nonzero()") in {(code, text_.partition("[")[0]) for code, text_ in ranges}
    assert ("recompile", "step") in ranges
    assert ("recompile", "x") in ranges


def test_ranks_are_told_apart_and_diverge() -> None:
    first, second = outcome(DATA / "h200-ddp")
    assert "(rank 0)" in first.file
    assert "(rank 1)" in second.file
    assert not [finding for finding in first.findings if finding.kind is Kind.RECOMPILE]
    assert [finding.place.line for finding in second.findings if finding.kind is Kind.RECOMPILE] == [9]


def test_a_break_inside_a_library_stands_at_the_users_line() -> None:
    first, _ = outcome(DATA / "h200-ddp")
    for finding in first.findings:
        assert finding.place.file == str(DATA / "h200-ddp" / "gpu_ddp.py")
        assert finding.related
        assert "site-packages" in finding.related[0].place.file or "contextlib" in finding.related[0].place.file
        assert finding.hints == (
            "Compile the module before it is wrapped: `DistributedDataParallel(torch.compile(module))`.",
        )
