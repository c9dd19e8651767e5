"""Streams and events of a device on which everything has happened when a call returns."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from ..notes import Told


def install(told: Told) -> None:
    """Make ``torch.cuda.Stream`` and ``Event`` anew, from bases that need no driver: ``torch.Stream`` and ``torch.Event``.

    A build without CUDA gives them bases that raise (torch/cuda/streams.py), and Dynamo knows a stream by its base.
    """

    class StreamBase(torch.Stream):
        """Stands for ``torch._C._CudaStreamBase``."""

        def __new__(cls, priority: int = 0, **known: Any) -> Any:
            if known.get("stream_ptr") is not None:
                return super().__new__(cls, device=torch.device("cuda", torch.cuda.current_device()))
            known.pop("stream_ptr", None)
            if "stream_id" in known:
                return super().__new__(cls, **known)
            return super().__new__(cls, device=torch.device("cuda", torch.cuda.current_device()), priority=priority)

        @property
        def cuda_stream(self) -> int:
            return int(self.stream_id)

        @property
        def priority(self) -> int:
            return 0

        @staticmethod
        def priority_range() -> tuple[int, int]:
            return 0, -5

    class EventBase(torch.Event):
        """Stands for ``torch._C._CudaEventBase``."""

        def __new__(
            cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
        ) -> Any:
            return super().__new__(cls, device="cuda", enable_timing=enable_timing, blocking=blocking)

        @property
        def cuda_event(self) -> int:
            return 0

        def record(self, stream: Any = None) -> None:
            """Everything before has happened already."""

        def wait(self, stream: Any = None) -> None:
            """Nothing is left to wait for."""

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            """Nothing is left to wait for."""

        def elapsed_time(self, end_event: Any) -> float:
            told.asked("time")
            return 1.0

    core: Any = torch._C
    core._CudaStreamBase, core._CudaEventBase = StreamBase, EventBase
    made = importlib.reload(torch.cuda.streams)
    from torch._dynamo import device_interface

    interface: Any = device_interface.CudaInterface
    for name in ("Stream", "Event", "ExternalStream"):
        setattr(torch.cuda, name, getattr(made, name))
        if hasattr(interface, name):
            setattr(interface, name, getattr(made, name))
