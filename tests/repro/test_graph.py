"""Graphs of a recorded trace as scripts: of a run on a cluster with H200s, moved to the CPU where there is no GPU."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from repros import run_all

from compile_lens.repro.contract import Criterion, ExitCode
from compile_lens.repro.expectation import Expectation, expect
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.graph import frames_with_graphs, moved_to_device, torch_of, write_graph
from compile_lens.repro.graph_inputs import GraphInputs
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.files import trace_files
from compile_lens.trace.records import iterate, opened
from compile_lens.trace.report import CompileReport

pytestmark = pytest.mark.xdist_group("repros")  # one process that scripts are forked from

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def recorded() -> tuple[CompileReport, GraphInputs]:
    builder, inputs = ReportBuilder(), GraphInputs()
    (trace,) = trace_files(DATA / "h200-single")
    for record in iterate(opened(trace)):
        builder.add(record)
        if record is not None:
            inputs.add(record)
    return builder.report(), inputs


def test_every_graph_of_a_trace_runs_as_in_eager(recorded: tuple[CompileReport, GraphInputs], tmp_path: Path) -> None:
    report, inputs = recorded
    frames = frames_with_graphs(report)
    assert len(frames) > 12
    assert torch_of(report).startswith("2.11")
    files = []
    for frame in frames:
        script = write_graph(report, inputs, frame, expect(None, report), "cpu")
        assert any("moved to cpu" in note for note in script.notes)
        assert "cuda" not in script.body.replace("torch.cuda", "")
        assert not re.search(r"/cluster/|gpu_single", script.body), "a path of the machine that recorded"
        files.append(tmp_path / f"graph_{frame.replace('/', '_')}.py")
        files[-1].write_text(script.body)
    for file, (code, said) in zip(files, run_all([(file, "eager") for file in files], tmp_path / "cache"), strict=True):
        assert code == ExitCode.GOOD, f"{file.name}: {said}"


def test_a_graph_that_aotautograd_prints_is_a_class_of_a_name(recorded: tuple[CompileReport, GraphInputs]) -> None:
    """Where a trace has no script of a graph, the printed one is taken, whose class is `<lambda>`."""
    report, inputs = recorded
    printed = tuple(a for a in report.artifacts if a.name == "aot_inference_graph")
    assert printed
    assert all("class <lambda>(" in (artifact.payload.text() or "") for artifact in printed)
    without_scripts = msgspec.structs.replace(report, artifacts=printed)
    for frame in frames_with_graphs(without_scripts):
        script = write_graph(without_scripts, inputs, frame, expect(None, report), "cpu")
        assert "class GraphModule(torch.nn.Module):" in script.body


def test_a_size_that_is_a_symbol_has_the_value_of_the_run(recorded: tuple[CompileReport, GraphInputs]) -> None:
    _, inputs = recorded
    assert inputs.value("0/1", "s50") == 96
    assert inputs.value("0/1", "2*s50 + 1") == 193
    assert inputs.describe("0/1", "x", "f32[4, s50, 128][128*s50, 128, 1]cuda:0")["stride"] == [12288, 128, 1]
    with pytest.raises(CannotWrite, match="does not contain the value of the symbol u7"):
        inputs.value("0/1", "u7 + 1")
    with pytest.raises(CannotWrite, match="unsupported expression"):
        inputs.value("0/1", "Max(1, s50)")


@pytest.mark.parametrize(
    "size", ["({0}/1)*({0}/1)", "({0}/1)*({0}/1)-({0}/1)*({0}/1)", "{0}*{0}", "1%0", "1(2)", "(1,2)"]
)
def test_a_size_that_no_tensor_has_is_said(size: str) -> None:
    """A trace may say anything."""
    with pytest.raises(CannotWrite, match="unsupported expression"):
        GraphInputs().describe("0/0", "x", f"Sym({size.format('9' * 300)})")


def test_a_large_size_is_written_with_all_its_digits() -> None:
    assert GraphInputs(hints={"0/0": {"s0": float(1 << 24)}}).value("0/0", "s0 + 1") == (1 << 24) + 1


def test_what_a_graph_cannot_show_is_said(recorded: tuple[CompileReport, GraphInputs]) -> None:
    report, inputs = recorded
    with pytest.raises(CannotWrite, match="Graph breaks and recompiles need the program's source"):
        write_graph(report, inputs, "1/0", Expectation(Criterion.BREAKS, ""))
    with pytest.raises(CannotWrite, match=r"no graph of frame 77/0. It has graphs of: 1/0, "):
        write_graph(report, inputs, "77/0", expect(None, report))


def test_devices_in_code_and_annotations_are_moved() -> None:
    text = "x: \"f32[2][1]cuda:0\" = torch.ones(2, device = device(type='cuda', index=0)); y = x.to('cuda:1')"
    assert (
        moved_to_device(text, "cpu")
        == "x: \"f32[2][1]cpu\" = torch.ones(2, device = device(type='cpu')); y = x.to('cpu')"
    )


def test_an_input_has_no_more_sizes_than_a_tensor() -> None:
    with pytest.raises(CannotWrite):
        GraphInputs().describe("0/0", "x", f"f32[{', '.join(['1'] * 70)}]cpu")
    assert GraphInputs().describe("0/0", "x", f"f32[{', '.join(['1'] * 64)}]cpu")
