"""What one step of a search runs, and how torch is configured before it does."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class StepSetup:
    """One run of a repro.

    ``state`` is the folder of the bisector's files, None without a bisection; ``backend`` is passed to the repro as
    ``TORCH_COMPILE_BACKEND``. ``options`` are values of torch's options by dotted name. ``watch`` asks what one application of a
    subsystem is: see ``bisect_watch``; the answer is written to ``answer`` as it grows, because the program may crash. With ``capture``
    the program is not run; its graphs are written to ``answer``. ``strict``: an exception that ends the program is no verdict, and what
    compiled code raises is written to ``answer`` (``raised_errors``).
    """

    file: str
    cwd: str
    scratch: str
    argv: list[str] = dataclasses.field(default_factory=list)
    backend: str | None = None
    state: str | None = None
    disabled: bool = False
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    watch: dict[str, Any] | None = None
    answer: str | None = None
    capture: bool = False
    strict: bool = False
