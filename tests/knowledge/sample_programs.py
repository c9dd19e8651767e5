"""Small programs that make torch write its logs, one process each: ``python tests/knowledge/sample_programs.py NAME``.

They need torch and the standard library only, run on a GPU where there is one, and are for torch 2.6 and newer: a program that this
torch has no parts for raises, and is passed over.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._inductor.config

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
seen: list[int] = []


def step(x: torch.Tensor, scale: int) -> torch.Tensor:
    y = torch.relu(x) * scale
    print("half way")
    return (y @ y.t()).softmax(-1).sum()


def training() -> None:
    """A graph break, a recompile, forward and backward."""
    compiled = torch.compile(step)
    for size, scale in ((8, 2), (8, 3), (16, 3)):
        compiled(torch.ones(size, 8, requires_grad=True, device=DEVICE), scale).backward()


def side_effects() -> None:
    """A side effect, and autotuning of a matrix multiplication."""

    def rare(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        seen.append(x.size(0))
        return (x @ weight).cos().sum()

    weight = torch.ones(64, 64, requires_grad=True, device=DEVICE)
    torch.compile(rare, mode="max-autotune")(torch.ones(64, 64, requires_grad=True, device=DEVICE), weight).backward()


def compiled_autograd() -> None:
    """A backward that is compiled as a whole."""
    weight = torch.ones(4, 4, requires_grad=True, device=DEVICE)
    compiler = torch.compile(backend="eager")
    with torch._dynamo.compiled_autograd._enable(compiler):
        (torch.ones(2, 4, device=DEVICE) @ weight).relu().sum().backward()


def nested_regions() -> None:
    """One region that is called twice, and captured once."""

    @torch.compiler.nested_compile_region
    def block(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x) * 2

    torch.compile(lambda x: block(block(x)), backend="eager")(torch.ones(4, device=DEVICE))


def repeated_regions() -> None:
    """A graph with the same piece three times, which is looked for."""

    def layer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cos(x + y.sin()) * 2

    with torch._dynamo.config.patch(use_graph_deduplication=True, track_nodes_for_deduplication=True):
        x, y = torch.ones(8, 8, device=DEVICE), torch.ones(8, 8, device=DEVICE)
        torch.compile(lambda a, b: layer(layer(a, b), layer(a, b)), backend="eager")(x, y)


def effects() -> None:
    """An operator with an effect, whose order is kept by tokens."""
    torch.compile(lambda x: (torch.ops.aten._print("seen"), x + 1)[1], backend="aot_eager")(torch.ones(2))


def templates() -> None:
    """A matrix multiplication with a constant weight, for which several templates are measured."""
    torch._inductor.config.freezing = True
    torch._inductor.config.max_autotune_gemm_backends = "ATEN,CPP,TRITON"
    model = torch.nn.Linear(256, 256).to(DEVICE).eval()
    with torch.no_grad():
        torch.compile(model, mode="max-autotune-no-cudagraphs")(torch.ones(64, 256, device=DEVICE))


def tiled() -> None:
    """A kernel whose inputs want different tilings."""
    x, y = torch.ones(256, 128, device=DEVICE), torch.ones(128, 256, device=DEVICE)
    torch.compile(lambda a, b: a + b.t())(x, y)


def cuda_graphs() -> None:
    """Forward under CUDA graphs, and a mutation that keeps one from being made."""
    plain = torch.compile(lambda x: x.sin() + 1, mode="reduce-overhead")
    for _ in range(3):
        plain(torch.ones(8, 8, device=DEVICE))
    torch.compile(lambda x: x.add_(1), mode="reduce-overhead")(torch.ones(8, 8, device=DEVICE))


def chunked_loss() -> None:
    """A loss over a large vocabulary, in front of which the chunker looks for what to split."""
    torch._inductor.config.auto_chunker.enable = True
    head = torch.nn.Linear(64, 4096, bias=False).to(DEVICE)
    labels = torch.zeros(2048, dtype=torch.long, device=DEVICE)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(head(x), labels)

    torch.compile(loss)(torch.ones(2048, 64, device=DEVICE, requires_grad=True)).backward()


def unknown_subclass() -> None:
    """A fake tensor beside a tensor class that it does not know."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Unknown(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    with FakeTensorMode(allow_non_fake_inputs=True):
        torch.ones(2) + torch.ones(2).as_subclass(Unknown)


def _one_process_group(backend: str) -> None:
    import torch.distributed as dist

    store = dist.FileStore(str(Path(tempfile.mkdtemp()) / "store"), 1)
    dist.init_process_group(backend, rank=0, world_size=1, store=store)


def data_parallel() -> None:
    """A compiled model under DistributedDataParallel, with buckets small enough to split the graph."""
    from torch.nn.parallel import DistributedDataParallel

    _one_process_group("nccl" if DEVICE == "cuda" else "gloo")
    layers = [torch.nn.Linear(512, 512) for _ in range(4)]
    model = DistributedDataParallel(torch.nn.Sequential(*layers).to(DEVICE), bucket_cap_mb=1)
    torch.compile(model, backend="aot_eager")(torch.ones(4, 512, device=DEVICE)).sum().backward()
    torch.distributed.destroy_process_group()


def sharded() -> None:
    """A model under FSDP2, on a mesh of one."""
    from torch.distributed.fsdp import fully_shard

    _one_process_group("nccl" if DEVICE == "cuda" else "gloo")
    mesh = torch.distributed.init_device_mesh(DEVICE, (1,))
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).to(DEVICE)
    fully_shard(model, mesh=mesh)
    model(torch.ones(2, 8, device=DEVICE)).sum().backward()
    torch.distributed.destroy_process_group()


def distributed_tensor() -> None:
    """A matrix multiplication of distributed tensors, and a change of their placement."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    _one_process_group("nccl" if DEVICE == "cuda" else "gloo")
    mesh = torch.distributed.init_device_mesh(DEVICE, (1,))
    x = distribute_tensor(torch.ones(4, 4, device=DEVICE), mesh, [Shard(0)])
    weight = distribute_tensor(torch.ones(4, 4, device=DEVICE), mesh, [Replicate()])
    (x @ weight).redistribute(mesh, [Replicate()])
    torch.distributed.destroy_process_group()


def pipeline() -> None:
    """A pipeline of one stage and two microbatches."""
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    _one_process_group("nccl" if DEVICE == "cuda" else "gloo")
    stage = PipelineStage(torch.nn.Linear(8, 8).to(DEVICE), 0, 1, torch.device(DEVICE))
    ScheduleGPipe(stage, n_microbatches=2).step(torch.ones(4, 8, device=DEVICE))
    torch.distributed.destroy_process_group()


def overlapped() -> None:
    """A collective beside a matrix multiplication, scheduled to overlap, in a pretended group of two."""
    import torch.distributed as dist
    import torch.distributed._functional_collectives as functional
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    optimizations = torch._inductor.config.aten_distributed_optimizations
    optimizations.enable_overlap_scheduling = True
    torch._inductor.config.reorder_for_compute_comm_overlap = True

    def work(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        gathered = functional.all_gather_tensor(x, 0, group=dist.group.WORLD)
        return (y @ y).sum() + functional.wait_tensor(gathered).sum()

    torch.compile(work)(torch.ones(64, 64, device=DEVICE), torch.ones(64, 64, device=DEVICE))
    dist.destroy_process_group()


def onnx_export() -> None:
    """An export to ONNX. Needs the package onnxscript."""
    torch.onnx.export(torch.nn.ReLU(), (torch.ones(2),), dynamo=True)


PROGRAMS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        training, side_effects, compiled_autograd, nested_regions, repeated_regions, effects, templates, tiled, cuda_graphs,
        chunked_loss, unknown_subclass, data_parallel, sharded, distributed_tensor, pipeline, overlapped, onnx_export,
    )
}  # fmt: skip
ANY = ("training", "side_effects")
# which programs are for a log that `ANY` do not reach
FOR = {
    "compiled_autograd": ("compiled_autograd",),
    "compiled_autograd_verbose": ("compiled_autograd",),
    "hierarchical_compile": ("nested_regions",),
    "graph_region_expansion": ("repeated_regions",),
    "aot_graphs_effects": ("effects",),
    "autotuning": ("templates",),
    "benchmarking": ("templates",),
    "incremental": ("templates",),
    "async_compile": ("templates", "tiled"),
    "caching": ("templates",),
    "loop_tiling": ("tiled",),
    "cudagraphs": ("cuda_graphs",),
    "auto_chunker": ("chunked_loss",),
    "not_implemented": ("unknown_subclass",),
    "ddp": ("data_parallel",),
    "ddp_graphs": ("data_parallel",),
    "c10d": ("data_parallel",),
    "distributed": ("data_parallel",),
    "fsdp": ("sharded",),
    "dtensor": ("distributed_tensor",),
    "pp": ("pipeline",),
    "overlap": ("overlapped",),
    "overlap_scheduling": ("overlapped",),
    "node_runtime_estimation": ("overlapped",),
    "onnx": ("onnx_export",),
}


if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
