"""Lets the threads that torch computes with sleep while they wait for work.

By default they spin for milliseconds after each operation that was split between them (libgomp), and a run beside other work waits for
threads that wait for it. Without a compilation, a small model took 0.4 s of a processor, and takes 0.1.
"""

from __future__ import annotations

import contextlib
import os

from .gpu_presence import environment

# OpenMP 5.2, 21.2.7; read once, when the library is loaded. What libgomp has of its own goes before it
WAIT_POLICY = "OMP_WAIT_POLICY"


def threads_that_sleep() -> contextlib.AbstractContextManager[None]:
    """For the import of torch, unless the user has chosen. The variable is gone before a program could see it."""
    return contextlib.nullcontext() if WAIT_POLICY in os.environ else environment(**{WAIT_POLICY: "passive"})
