"""Programs are compiled for a GPU that is not there. What kernels a real H100 and H200 got is recorded: ``test_recorded.py``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.command import Warm

from compile_lens.knowledge.devices import find_device
from compile_lens.pipeline.gpu_preview import preview_job
from compile_lens.stages.gpu_preview import ASSEMBLY, Certainty, GpuPreview, preview_of
from compile_lens.stages.model import Direction, StageKind
from compile_lens.stages.opened import OpenedStages, open_stages
from compile_lens.workers.job import Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("gpu-preview")

PROGRAM = """
import torch
import torch.nn.functional as F

@torch.compile
def pointwise(x):
    return x.relu() + 1

@torch.compile
def normalized(x, weight, bias):
    return F.layer_norm(torch.softmax(x, -1), (1024,), weight, bias)

@torch.compile
def loss(x, weight):
    return F.gelu(F.layer_norm(x @ weight, (256,))).sum()

@torch.compile
def attended(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True) * 2

pointwise(torch.randn(1024, 1024, device="cuda"))
normalized(torch.randn(4096, 1024, device="cuda"), torch.ones(1024, device="cuda"), torch.ones(1024, device="cuda"))
weight = torch.randn(256, 256, device="cuda", requires_grad=True)
loss(torch.randn(64, 256, device="cuda"), weight).backward()
print(tuple(weight.grad.shape), weight.grad.device)
q, k, v = (torch.randn(2, 8, 512, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
out = attended(q, k, v)
if out.sum() > 0:
    print("positive")
"""


@dataclass(frozen=True)
class Previewed:
    preview: GpuPreview
    stages: OpenedStages
    printed: str


def previewed(host: WarmHost, file: Path, gpu: str, assembly: bool = False) -> Previewed:
    outcome, report = host.run_with_report(preview_job(Job(str(file), timeout_s=300), find_device(gpu), assembly))
    assert not outcome.failure
    preview = preview_of(report)
    assert preview is not None
    return Previewed(preview, open_stages(report), outcome.output)


@pytest.fixture(scope="module")
def on_h100(warm_host: WarmHost, tmp_path_factory: pytest.TempPathFactory) -> Previewed:
    file = tmp_path_factory.mktemp("preview") / "program.py"
    file.write_text(PROGRAM)
    return previewed(warm_host, file, "h100")


def test_says_for_which_gpu_it_is(on_h100: Previewed) -> None:
    preview = on_h100.preview
    assert preview.title.startswith("as for H100 80GB HBM3 (sm_90), torch 2.")
    assert preview.triton_problem == ""
    assert not preview.retargeted


def test_gives_the_kernels_of_forward_and_backward_graphs(on_h100: Previewed) -> None:
    found = [(graph.function, graph.direction) for graph in on_h100.stages.graphs]
    assert found == [
        ("pointwise", Direction.INFERENCE),
        ("normalized", Direction.INFERENCE),
        ("loss", Direction.FORWARD),
        ("loss", Direction.BACKWARD),
        ("attended", Direction.INFERENCE),
    ]
    for graph in on_h100.stages.graphs:
        assert any(kernel.name.startswith("triton_") for kernel in graph.kernels), graph.id
        code = graph.stage(StageKind.OUTPUT_CODE)
        assert code is not None
        assert "DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90" in code.text


def test_kernels_lead_to_the_lines_of_the_source(on_h100: Previewed) -> None:
    line = next(number for number, text in enumerate(PROGRAM.split("\n"), 1) if "x @ weight" in text)
    graphs = {kernel.graph for kernel in on_h100.stages.kernels_at(on_h100.stages.graphs[2].file, line)}
    assert graphs == {on_h100.stages.graphs[2].id, on_h100.stages.graphs[3].id}


def test_attention_is_computed_as_on_that_gpu(on_h100: Previewed) -> None:
    code = on_h100.stages.graphs[4].stage(StageKind.OUTPUT_CODE)
    assert code is not None
    assert "_scaled_dot_product_cudnn_attention" in code.text
    (decision,) = (one for one in on_h100.preview.decisions if one.what == "attention")
    assert decision.taken == "cuDNN attention"


def test_each_kernel_says_how_certain_it_is(on_h100: Previewed) -> None:
    by_name = {kernel.name: kernel for kernel in on_h100.preview.kernels}
    one_of = by_name["triton_poi_fused_add_relu_0"]
    assert one_of.certainty is Certainty.ONE_OF
    assert [str(one) for one in one_of.configurations] == [
        "XBLOCK=1024, num_warps=4, num_stages=1",
        "XBLOCK=512, num_warps=8, num_stages=1",
    ]
    exact = by_name["triton_per_fused_gelu_native_layer_norm_sum_0"]
    assert exact.certainty is Certainty.EXACT
    assert [str(one) for one in exact.configurations] == ["XBLOCK=1, num_warps=2, num_stages=1"]


def test_the_program_goes_on_after_a_value_that_was_not_computed(on_h100: Previewed) -> None:
    assert "(256, 256) cuda:0" in on_h100.printed
    (decision,) = (one for one in on_h100.preview.decisions if one.what == "value")
    assert decision.at is not None
    assert decision.at.line == PROGRAM[: PROGRAM.index("if out.sum()")].count("\n") + 1


def test_ptx_is_made_for_other_gpus(warm_host: WarmHost, tmp_path: Path) -> None:
    file = tmp_path / "pointwise.py"
    file.write_text(
        "import torch\n\n@torch.compile\ndef f(x):\n    return x.relu() + 1\n\nf(torch.randn(1024, 1024))\n"
    )
    preview = previewed(warm_host, file, "b200", assembly=True).preview
    assert preview.retargeted  # the program runs on the CPU
    (kernel,) = preview.kernels
    configuration = kernel.configurations[0]
    assert ".target sm_100" in (configuration.assembly[StageKind.PTX].text() or "")
    assert set(configuration.assembly) == set(ASSEMBLY)
    # the disassembler is that of Triton's wheel, and knows the GPU
    sass = configuration.assembly[StageKind.SASS].text() or ""
    assert "EXIT" in sass and "STG" in sass
    assert configuration.registers is not None
    assert 8 <= configuration.registers <= 64
    assert (configuration.shared, configuration.spills) == (0, 0)


@pytest.mark.usefixtures("warm_command")
def test_the_command_prints_the_kernels_for_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(
        "import torch\n\n@torch.compile\ndef f(x):\n    return x.sum(-1)\n\nf(torch.randn(64, 512))\n"
    )
    done = Warm(["kernels", "--json", "--gpu", "a100", "sums.py"], tmp_path)
    assert done.code == 0, done.err
    (run,) = json.loads(done.out)["runs"]
    assert run["preview"]["architecture"] == "sm_80"
    (kernel,) = run["preview"]["kernels"]
    assert kernel["name"] == run["graphs"][0]["kernels"][0]["name"]
    assert kernel["certainty"] in {"exact", "one-of"}
    refused = Warm(["kernels", "--gpu", "nonsense", "sums.py"], tmp_path)
    assert refused.code == 2
    assert "No GPU is known as `nonsense`" in refused.err
