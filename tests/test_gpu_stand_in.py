"""GPU programs on this machine, where the CPU stands in for the GPU, beside what the same programs did on a GPU with torch 2.11."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.workers.job import Job, Substitution
from replay import program, recording, replay
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("gpu-stand-in")

DATA = Path(__file__).parent / "data"
# what Dynamo decides; what comes after it (kernels, CUDA graphs) is none of the CPU's
DYNAMO = ("graph-break", "recompile", "recompile-limit", "specialization", "compile-error", "run-error")
PROGRAMS, WORKLOADS = (
    sorted(name.removesuffix(".wire") for name in recording(archive) if name.endswith(".wire"))
    for archive in ("gpu-programs", "gpu-workloads")
)
# program → "LINE CODE xCOUNT" of each finding in what plain torch 2.11 wrote on an H100
DRAWN: dict[str, list[str]] = json.loads((DATA / "h100-torch2.11" / "gpu-drawn.json").read_text())
# (code, line, frames) on the GPU alone, and here alone; and why
OTHERWISE: dict[str, tuple[set[tuple[str, int]], set[tuple[str, int]], str]] = {
    "cudagraph_overwritten": (
        {("cudagraph-overwritten", 10)},
        set(),
        "a CUDA graph wrote over its result: there are none here",
    ),
    "triton_error": ({("triton-compile-error", 14)}, set(), "Triton's compiler does not run at the depth dynamo"),
}
# torch 2.11 breaks at `torch.cuda.synchronize()`, 2.13 traces it (torch/_dynamo/variables/torch.py)
SYNCHRONIZE = {"prefetch": ("GB0007", 26), "streams": ("GB0007", 10)}
# torch 2.11 tries `DistributedDataParallel._run_ddp_forward` as a frame of its own once more than 2.13: the same break at the same line
DDP_OF_2_11 = {("GB0007", "2/0")}
# A trace that torch wrote alone has no columns: a recompile stands at the decorator, or where a function is resumed.
MOVED_BY_THE_TRACE = {(64, 65), (33, 30), (30, 31)}


@pytest.fixture
def host(warm_host: WarmHost) -> WarmHost:
    return warm_host


def of_dynamo(outcome: Outcome) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.kind.value in DYNAMO]


def run(host: WarmHost, tmp_path: Path, text: str, **how: object) -> Outcome:
    file = tmp_path / "program.py"
    file.write_text(text)
    return host.run(Job(str(file), timeout_s=300.0, **how))  # type: ignore[arg-type]


def codes(outcome: Outcome) -> set[str]:
    return {finding.code for finding in outcome.findings}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_recorded_program_breaks_and_recompiles_as_on_the_gpu(host: WarmHost, tmp_path: Path, name: str) -> None:
    there = replay("gpu-programs", name)
    here = run(host, tmp_path, program("gpu-programs", name))
    seen_there = {(f.code, f.place.line, f.count, f.frames) for f in of_dynamo(there)}
    seen_here = {(f.code, f.place.line, f.count, f.frames) for f in of_dynamo(here)}
    only_there = {(code, line) for code, line, _, _ in seen_there - seen_here}
    only_here = {(code, line) for code, line, _, _ in seen_here - seen_there}
    assert (only_there, only_here) == OTHERWISE.get(name, (set(), set(), ""))[:2]
    assert here.graphs == there.graphs
    assert "cpu-for-gpu" in codes(here)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_recorded_workload_breaks_and_recompiles_as_on_the_gpu(host: WarmHost, tmp_path: Path, name: str) -> None:
    there, text = replay("gpu-workloads", name), program("gpu-workloads", name)
    here = run(host, tmp_path, text)
    assert here.status is there.status
    found_there = {(f.code, f.place.line) for f in of_dynamo(there)} - {SYNCHRONIZE.get(name)}
    assert {(f.code, f.place.line) for f in of_dynamo(here)} == found_there
    assert ("cpu-for-gpu" in codes(here)) == ("cuda" in text)


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_program_breaks_and_recompiles_as_in_the_trace_of_plain_torch_on_a_gpu(
    host: WarmHost, tmp_path: Path, name: str
) -> None:
    here = run(host, tmp_path, (DATA / "gpu-drawn" / f"{name}.py").read_text())
    found = sorted((f.place.line, f"{f.place.line} {f.code} x{f.count}") for f in of_dynamo(here))
    assert [words for _, words in found] == DRAWN[name]
    assert "cpu-for-gpu" in codes(here)


def test_the_training_like_trace_breaks_and_recompiles_as_on_the_gpu(host: WarmHost, tmp_path: Path) -> None:
    (trace,) = (DATA / "h200-single").glob("*trace*.gz")
    there = read_recorded(trace).outcome
    here = run(host, tmp_path, (DATA / "h200-single" / "gpu_single.py").read_text())
    assert here.status is Status.OK
    assert frames(there) == frames(here)
    lines_there = {(f.code, f.place.line) for f in of_dynamo(there)}
    lines_here = {(f.code, f.place.line) for f in of_dynamo(here)}
    moved = {(there_line, here_line) for there_line, here_line in MOVED_BY_THE_TRACE}
    assert lines_there - lines_here <= {("recompile", line) for line, _ in moved}
    assert lines_here - lines_there <= {("recompile", line) for _, line in moved}
    assert here.graphs == there.graphs


def frames(outcome: Outcome) -> set[tuple[str, str]]:
    """Which compilations broke or were recompiled: (code, compile id)."""
    return {(finding.code, frame) for finding in of_dynamo(outcome) for frame in finding.frames}


@pytest.mark.parametrize("rank", [0, 1])
def test_each_rank_of_the_ddp_trace_breaks_and_recompiles_as_on_its_gpu(
    host: WarmHost, tmp_path: Path, rank: int
) -> None:
    (trace,) = (DATA / "h200-ddp").glob(f"*rank_{rank}_*")
    there = read_recorded(trace).outcome
    launched = {"RANK": f"{rank}", "LOCAL_RANK": f"{rank}", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    here = run(host, tmp_path, (DATA / "h200-ddp" / "gpu_ddp.py").read_text(), env=launched)
    assert here.status is Status.OK
    assert {(f.code, f.place.line) for f in of_dynamo(here)} == {(f.code, f.place.line) for f in of_dynamo(there)}
    assert frames(there) - frames(here) == DDP_OF_2_11
    assert frames(here) <= frames(there)
    assert "one-process" in codes(here)


DEVICES = """
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@torch.compile
def step(x):
    if x.is_cuda and x.device.type == "cuda" and torch.cuda.is_available():
        print("on the GPU")
    return x.cuda().sin() + torch.ones(3, device="cuda")


model = torch.nn.Linear(3, 3).to(device)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
scaler = torch.amp.GradScaler("cuda")
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 3)), batch_size=2, pin_memory=True)
noise = torch.randn(2, 3, device=device, generator=torch.Generator(device=device).manual_seed(0))
with torch.cuda.stream(torch.cuda.Stream()):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
for (batch,) in loader:
    batch = batch.to(device, non_blocking=True)
    with torch.autocast("cuda", dtype=torch.float16):
        hidden = model(batch + noise)
        assert hidden.dtype is torch.float16
        loss = step(hidden).float().sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
end.record()
torch.cuda.synchronize()
torch.accelerator.synchronize()
assert torch.accelerator.current_accelerator().type == "cuda"
assert str(loss.device) == "cuda:0" and loss.is_cuda
print(torch.cuda.get_device_capability(), torch.cuda.memory_allocated(), start.elapsed_time(end), loss.item())
for events in ((start, torch.cuda.Event(enable_timing=True)), (torch.cuda.Event(), end)):
    try:
        raise AssertionError(events[0].elapsed_time(events[1]))
    except ValueError as refused:
        assert "must be" in str(refused)
torch.set_default_device("cuda")
assert torch.zeros(2).is_cuda
"""


def test_devices_streams_scalers_and_queries_are_those_of_a_gpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, DEVICES)
    assert outcome.status is Status.OK, outcome.findings
    (broken,) = [finding for finding in outcome.findings if finding.kind.value == "graph-break"]
    assert DEVICES.splitlines()[broken.place.line - 1].strip() == 'print("on the GPU")'
    assumed = [f for f in outcome.findings if f.code == "gpu-answer"]
    assert {DEVICES.splitlines()[f.place.line - 1].split("(")[0] for f in assumed} == {"print"}
    assert {f.message.partition(" are ")[0].partition(" is ")[0] for f in assumed} == {
        "The GPU properties read here",
        "The GPU memory read here",
        "The GPU time read here",
    }


RECURRENT = """
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 7, 8)
ways = [(kind, how) for kind in (nn.LSTM, nn.GRU, nn.RNN) for how in ({}, {"num_layers": 2, "bidirectional": True}, {"bias": False})]
for kind, how in [*ways, (nn.LSTM, {"proj_size": 3})]:
    module = kind(8, 5, batch_first=True, **how)
    found = []
    for own, given in ((copy.deepcopy(module), x.clone()), (module.to("cuda"), x.to("cuda"))):
        given.requires_grad_()
        result, state = own(given)
        states = state if isinstance(state, tuple) else (state,)
        (result.sin().sum() + sum(state.cos().sum() for state in states)).backward()
        found.append([result, *states, given.grad, *(parameter.grad for parameter in own.parameters())])
    for one, other in zip(*found, strict=True):
        assert other.is_cuda
        torch.testing.assert_close(other.cpu(), one)
"""


def test_recurrent_layers_have_the_values_and_gradients_of_the_cpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, RECURRENT)
    assert outcome.status is Status.OK, outcome.findings


ATTENDING = """
import torch
from torch.nn.functional import scaled_dot_product_attention

aten = torch.ops.aten
torch.manual_seed(0)
given = [torch.randn(2, 4, 8, 16, requires_grad=True) for _ in range(3)]
expected = scaled_dot_product_attention(*given, is_causal=True)
expected.sin().sum().backward()


def attend(backend, *arguments):
    if backend == "flash":
        return aten._scaled_dot_product_flash_attention(*arguments, 0.0, True)[0]
    return getattr(aten, f"_scaled_dot_product_{backend}_attention")(*arguments, None, True, 0.0, True)[0]


for backend in ("efficient", "flash", "cudnn"):
    if not hasattr(aten, f"_scaled_dot_product_{backend}_attention"):
        continue
    inputs = [each.detach().cuda().requires_grad_() for each in given]
    result = attend(backend, *inputs)
    assert result.is_cuda
    torch.testing.assert_close(result.cpu(), expected)
    result.sin().sum().backward()
    for own, other in zip(inputs, given):
        torch.testing.assert_close(own.grad.cpu(), other.grad)
inputs = [each.detach().cuda().requires_grad_() for each in given]
bias = torch.zeros(2, 4, 8, 8, device="cuda", requires_grad=True)
aten._scaled_dot_product_efficient_attention(*inputs, bias, True)[0].sum().backward()
assert bias.grad.is_cuda and bias.grad.shape == bias.shape
"""


def test_attention_as_a_gpu_computes_it_has_the_values_of_the_cpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, ATTENDING)
    assert outcome.status is Status.OK, outcome.findings


SHARDED = """
import os
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl")
assert dist.get_backend() == "nccl" and dist.get_world_size() == 1
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16)).cuda()
fully_shard(model)
compiled = torch.compile(model)
compiled(torch.randn(4, 16, device="cuda")).sum().backward()


@torch.compile
def reduced(x):
    dist.all_reduce(x)
    return x + 1


reduced(torch.ones(3, device="cuda"))
dist.barrier()
dist.destroy_process_group()
"""


def test_a_program_for_torchrun_starts_as_one_process(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, SHARDED)
    assert outcome.status is Status.OK, outcome.findings
    assert {"one-process", "cpu-for-gpu"} <= codes(outcome)
    assert outcome.graphs >= 1


TRITON = """
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(left, right, target, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    tl.store(target + offsets, tl.load(left + offsets, mask=mask) + tl.load(right + offsets, mask=mask), mask=mask)


@torch.compile
def doubled(x):
    target = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x, target, x.numel(), BLOCK=64)
    return target * 2


x = torch.ones(100, device="cuda")
assert doubled(x).eq(4).all()
"""


PARALLEL = """
import torch

net = torch.nn.Linear(3, 2).cuda()
x = torch.randn(5, 3, device="cuda", requires_grad=True)
step = torch.compile(torch.nn.DataParallel(net), backend="eager")
torch.testing.assert_close(step(x), net(x))
step(x).sum().backward()
assert x.grad is not None and net.weight.grad is not None
from torch.nn.parallel import comm

two = comm.scatter(x.detach(), [0, 0], dim=0)
assert [tuple(each.shape) for each in two] == [(3, 3), (2, 3)]
torch.testing.assert_close(comm.gather(two, dim=0, destination=0), x.detach())
copies = comm.broadcast_coalesced([net.weight.detach(), net.bias.detach()], [0, 0])
assert [len(each) for each in copies] == [2, 2]
"""


def test_data_parallel_moves_tensors_as_between_gpus(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, PARALLEL)
    assert outcome.status is Status.OK, outcome.output


def test_a_triton_kernel_is_traced_and_runs_in_the_interpreter(host: WarmHost, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    outcome = run(host, tmp_path, TRITON)
    assert outcome.status is Status.OK, outcome.findings
    assert codes(outcome) == {"cpu-for-gpu", "triton-kernel"}
    assert outcome.graphs == 1


def test_nothing_stands_in_when_it_is_switched_off(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, 'import torch\ntorch.ones(2, device="cuda")\n', stand_in=Substitution.OFF)
    (finding,) = outcome.findings
    assert finding.code == "run-error" and "CUDA" in finding.message


def test_a_program_that_asks_for_no_gpu_is_left_as_it_is(host: WarmHost, tmp_path: Path) -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n\n\nf(torch.ones(2))\nassert 'cud' + 'a'\n"
    assert run(host, tmp_path, text).findings == ()


def test_the_recordings_are_there() -> None:
    assert len(PROGRAMS) >= 5 and set(OTHERWISE) <= set(PROGRAMS)


def test_what_a_driver_would_say_is_answered_without_it(host: WarmHost, tmp_path: Path) -> None:
    # with a driver and hidden GPUs, NVML counts none, and the reducer's timers cannot be made (seen on an H100 with torch 2.11)
    text = (
        "import torch\n"
        "from torch._dynamo.device_interface import get_interface_for_device\n"
        "torch.zeros(1, device='cuda')\n"
        "counts = torch.cuda._device_count_nvml(), torch.cuda.device_count()\n"
        "assert counts == (1, 1), counts\n"
        "assert get_interface_for_device('cuda').Worker.get_device_properties().major == 9\n"
        "import torch.distributed as dist\n"
        "dist.init_process_group('nccl')\n"
        "net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).cuda())\n"
        "for _ in range(2):\n"
        "    net(torch.ones(1, 2, device='cuda')).sum().backward()\n"
        "assert net.reducer.prepare_for_forward.__name__ == 'get_backward_stats'\n"
    )
    outcome = run(host, tmp_path, text)
    assert outcome.status is Status.OK, outcome.output


def test_a_device_whose_name_the_program_does_not_spell_is_there_at_its_first_use(
    host: WarmHost, tmp_path: Path
) -> None:
    text = (
        "import torch\n"
        "kind = ''.join(('cu', 'da'))\n"
        "module = getattr(torch, kind)\n"
        "%s\n"
        "assert torch.ones(1, device=kind).device.index == 0\n"
    )
    for first in ("module.set_device(0)", "with module.device(0): pass"):
        outcome = run(host, tmp_path, text % first)
        assert outcome.status is Status.OK, outcome.output


def test_the_build_is_shown_beside_an_emulated_device(host: WarmHost, tmp_path: Path) -> None:
    text = "import torch\ntorch.zeros(1, device='cuda')\nassert 'PyTorch built with' in torch.__config__.show()\n"
    outcome = run(host, tmp_path, text)
    assert outcome.status is Status.OK, outcome.output
