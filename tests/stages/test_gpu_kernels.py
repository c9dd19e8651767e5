"""What Triton made of the kernels of a run on a GPU, as its notes have it: one document for each configuration and stage."""

from __future__ import annotations

import hashlib
import json

from compile_lens.stages.documents import assembly_stages
from compile_lens.stages.gpu_preview import gpu_kernels, kernel_named, preview_of
from compile_lens.trace.builder import ReportBuilder

KERNEL = {
    "kernel": "triton_poi_fused_sin_0",
    "configurations": [
        {"options": {"XBLOCK": block}, "num_warps": 4, "num_stages": 1, "shared": 0, "assembly": {"ptx": f"// {block}"}}
        for block in (256, 512)
    ],
}


def test_a_run_has_what_triton_made_of_each_configuration() -> None:
    text = json.dumps(KERNEL)
    digest = hashlib.md5(text.encode()).hexdigest()
    head = {
        "artifact": {"name": "compile_lens_gpu_kernel", "encoding": "json"},
        "frame_id": 0,
        "frame_compile_id": 0,
        "attempt": 0,
        "has_payload": digest,
    }
    builder = ReportBuilder()
    builder.feed(f"V1122 12:00:00.000000 1 torch/x.py:1] {json.dumps(head)}\n\t{text}\n".encode())
    report = builder.report()
    assert preview_of(report) is None
    kernel = kernel_named(gpu_kernels(report), "triton_poi_fused_sin_0", "0/0")
    assert kernel is not None
    assert kernel.label == ""  # nothing is uncertain about what was compiled
    documents = list(assembly_stages("0_0/inference", kernel))
    assert [(one.id, one.text) for one in documents] == [
        ("0_0/inference/ptx/triton_poi_fused_sin_0.0", "// 256"),
        ("0_0/inference/ptx/triton_poi_fused_sin_0.1", "// 512"),
    ]
    assert documents[1].title == "triton_poi_fused_sin_0 (XBLOCK=512, num_warps=4, num_stages=1)"
