"""Remembers which vector units of the processor the compiler of this machine was shown to support, from one run to the next.

torch asks in every process that compiles C++, by building a library for each unit and loading it in a new Python, which until torch 2.12
imports torch for it (torch/_inductor/cpu_vec_isa.py, ``VecISA.check_build``): 5 to 60 s of each run in the sandbox. Only what was shown to
work is remembered, by the code, the flags, the compiler and the version of torch; else torch's own trial decides.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

from ..torch_internals.inductor import VECTOR_ISA_FINGERPRINT, VECTOR_ISA_TRIAL

FOLDER = "vector_units"
Trial = Callable[[Any, str], bool]


def is_recorded(cache: str) -> bool:
    """Whether trials were recorded in the folder ``cache``, even if the processor has no unit that needs one."""
    return os.path.isdir(os.path.join(cache, FOLDER))


def record(cache: str) -> None:
    """Write down in the folder ``cache`` each unit that torch's trial finds to work in this process."""
    os.makedirs(os.path.join(cache, FOLDER), exist_ok=True)
    original = _trial()
    if original is None:
        return

    def check_build(unit: Any, code: str) -> bool:
        works = original(unit, code)
        if works:
            with open(_place(cache, unit, code), "wb"):
                pass
        return works

    VECTOR_ISA_TRIAL.set(check_build)


def recall(cache: str) -> None:
    """Let torch's trial answer at once in this process for what was recorded in the folder ``cache``."""
    original = _trial()
    if original is None or not is_recorded(cache):
        return

    def check_build(unit: Any, code: str) -> bool:
        return os.path.exists(_place(cache, unit, code)) or original(unit, code)

    VECTOR_ISA_TRIAL.set(check_build)


def _trial() -> Trial | None:
    """torch's own; None where what tells compilers apart is not as expected."""
    trial: Trial | None = VECTOR_ISA_TRIAL.get()
    return trial if VECTOR_ISA_FINGERPRINT.get() is not None else None


def _place(cache: str, unit: Any, code: str) -> str:
    fingerprint = VECTOR_ISA_FINGERPRINT.need()(unit.build_arch_flags())
    name = hashlib.sha256(f"{fingerprint}\n{code}".encode()).hexdigest()
    return os.path.join(cache, FOLDER, name)
