"""Defines the message between server and agent about a preview of kernels for a GPU that is not there.

A part of ``protocol``, under the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .message import Message


@dataclass(frozen=True)
class GpuPreviewRequest(Message):
    """Compile the program as for the GPU ``title``, whose ``properties`` have the names of ``torch.cuda.get_device_properties``.

    ``assembly``: each kernel is compiled by Triton, too, down to the GPU's own code.
    """

    title: str
    properties: Mapping[str, Any]
    assembly: bool = False
