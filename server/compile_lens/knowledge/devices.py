"""GPUs by name, with the figures that the compiler asks a device for, and those that limit a kernel's speed.

The figures are those of data sheets (each row of ``data/devices.json`` names its source), not measurements.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from compile_lens.agent.runtime.regular_file import read_regular

TABLE = Path(__file__).parent / "data" / "devices.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProperties:
    """What ``torch.cuda.get_device_properties`` says, under the same names. Memory is in bytes."""

    name: str
    major: int
    minor: int
    multi_processor_count: int
    regs_per_multiprocessor: int
    max_threads_per_multi_processor: int
    max_threads_per_block: int
    warp_size: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int
    total_memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU. ``bandwidth``: bytes per second. ``vector`` and ``matmul``: dense floating point operations per second by data type
    (``float8`` and ``tf32`` stand for themselves), on the ordinary units and on the matrix units.
    """

    key: str = ""
    also: tuple[str, ...] = ()
    properties: GpuProperties
    bandwidth: float
    vector: Mapping[str, float]
    matmul: Mapping[str, float]
    source: str

    @property
    def title(self) -> str:
        """How people call it: ``H100``, ``RTX 4090``."""
        return self.properties.name.removeprefix("NVIDIA ").removeprefix("GeForce ").removeprefix("Tesla ")

    @property
    def architecture(self) -> str:
        return f"sm_{self.properties.major}{self.properties.minor}"


class UnknownDeviceError(ValueError):
    """The name is that of no device in the table, or the file has not the form of a row. ``str()`` tells a user what to do."""


class _Table(msgspec.Struct):
    devices: dict[str, Device]


@functools.cache
def devices() -> Mapping[str, Device]:
    """All rows of the table, by name."""
    table = msgspec.json.decode(TABLE.read_bytes(), type=_Table)
    return {key: replace(row, key=key) for key, row in table.devices.items()}


def find_device(name: str) -> Device:
    """The device that a user calls ``name``: a name of the table in any spelling, or the path of a JSON file with one row.

    Raises UnknownDeviceError.
    """
    wanted = _plain(name)
    for key, device in devices().items():
        if wanted in map(_plain, (key, *device.also, device.properties.name)):
            return device
    path = Path(name)
    if path.suffix == ".json":
        return read_device(path)
    raise UnknownDeviceError(
        f"No GPU is known as `{name}`. Known names: {', '.join(devices())}. For another GPU, pass a JSON file with its figures."
    )


def read_device(path: Path) -> Device:
    """A device from a user's file: a row as in ``data/devices.json``. Raises UnknownDeviceError."""
    try:
        device = msgspec.json.decode(read_regular(path), type=Device)
    except OSError as error:
        raise UnknownDeviceError(f"{path}: {error.strerror}.") from error
    except msgspec.DecodeError as error:
        raise UnknownDeviceError(f"{path} does not describe a GPU: {error}.") from error
    except ValueError:  # a null character, or half of another one
        raise UnknownDeviceError("This is no name of a file.") from None
    return replace(device, key=device.key or path.stem)


def devices_like(*, major: int, minor: int, multi_processor_count: int) -> tuple[Device, ...]:
    """The devices that kernels with these figures may have been compiled for. H100 and H200 have the same."""
    return tuple(
        device
        for device in devices().values()
        if (device.properties.major, device.properties.minor, device.properties.multi_processor_count)
        == (major, minor, multi_processor_count)
    )


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum()).removeprefix("nvidia")
