"""Makes the job that previews a file's kernels for a GPU that is not there."""

from __future__ import annotations

from dataclasses import asdict, replace

from compile_lens.knowledge.devices import Device
from compile_lens.workers.job import Depth, GpuPreviewRequest, Job


def preview_job(job: Job, device: Device, assembly: bool = False) -> Job:
    """``job`` compiled as for ``device``. ``assembly``: with what Triton makes of each kernel, down to PTX."""
    return replace(
        job,
        depth=Depth.INDUCTOR,
        sandbox=replace(job.sandbox, gpu=False),
        preview=GpuPreviewRequest(device.title, asdict(device.properties), assembly),
    )
