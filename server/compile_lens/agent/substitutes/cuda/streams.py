"""Streams and events of the emulated device, on which every call completes before it returns."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from ...torch_internals.cuda import C_EVENT_BASE, C_STREAM_BASE
from ...torch_internals.dynamo import CUDA_INTERFACE
from ..notes import StandInNotes


def install(notes: StandInNotes) -> None:
    """Redefine ``torch.cuda.Stream`` and ``Event`` with bases that need no driver: ``torch.Stream`` and ``torch.Event``.

    A build without CUDA gives them bases that raise (torch/cuda/streams.py), and Dynamo recognizes a stream by its base.
    """

    class StreamBase(torch.Stream):
        """Replaces ``torch._C._CudaStreamBase``."""

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
        """Replaces ``torch._C._CudaEventBase``."""

        def __new__(
            cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
        ) -> Any:
            event: Any = super().__new__(cls, device="cuda", enable_timing=enable_timing, blocking=blocking)
            event.has_timing, event.is_recorded = enable_timing, False
            return event

        @property
        def cuda_event(self) -> int:
            return 0

        def record(self, stream: Any = None) -> None:
            """Nothing is pending."""
            self.is_recorded = True

        def wait(self, stream: Any = None) -> None:
            """Nothing is pending."""

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            """Nothing is pending."""

        def elapsed_time(self, end_event: Any) -> float:
            """As ATen/cuda/CUDAEvent.h refuses. Dynamo can pass an event on that its graph did not record."""
            if not (self.has_timing and end_event.has_timing):
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            if not (self.is_recorded and end_event.is_recorded):
                raise ValueError("Both events must be recorded before calculating elapsed time.")
            notes.queried("time")
            return 1.0

    C_STREAM_BASE.put(StreamBase)
    C_EVENT_BASE.put(EventBase)
    made = importlib.reload(torch.cuda.streams)
    interface: Any = CUDA_INTERFACE.need()
    for name in ("Stream", "Event", "ExternalStream"):
        setattr(torch.cuda, name, getattr(made, name))
        if hasattr(interface, name):
            setattr(interface, name, getattr(made, name))
