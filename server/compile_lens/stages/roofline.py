"""How fast a kernel can be on a device at best: its bytes over the bandwidth, against its operations over the peak.

An estimate from data sheets. It knows nothing of caches, of the time that a launch takes, and of how well a kernel uses the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from compile_lens.knowledge.devices import Device
from compile_lens.stages.work import Work


class Limit(str, Enum):
    """What a kernel waits for, at best."""

    MEMORY = "memory"
    COMPUTE = "compute"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds that ``device`` needs at least: ``memory`` to move ``bytes``, ``compute`` for ``operations``."""

    device: str
    bytes: int
    operations: int
    memory: float
    compute: float

    @property
    def seconds(self) -> float:
        return max(self.memory, self.compute)

    @property
    def limit(self) -> Limit:
        return Limit.COMPUTE if self.compute > self.memory else Limit.MEMORY


def estimate(work: Work, moved: int, device: Device) -> Estimate:
    """The least time of a kernel that does ``work`` and moves ``moved`` bytes."""
    compute = work.vector / _rate(device.vector, work.vector_dtype, device)
    compute += sum(count / peak(device, dtype) for dtype, count in work.matmul)
    return Estimate(device.key, moved, work.total, moved / device.bandwidth, compute)


def peak(device: Device, dtype: str) -> float:
    """Operations per second of a matrix product in ``dtype``.

    float32 is not TF32, as in torch by default. What the matrix units do not take runs on the ordinary ones.
    """
    return device.matmul.get(dtype) or _rate(device.vector, dtype, device)


def _rate(rates: Mapping[str, float], dtype: str, device: Device) -> float:
    return rates.get(dtype) or device.vector["float32"]
