"""Tells where a program needs a stub, so that what the compiler says of it is no finding: with the library it would be another."""

from __future__ import annotations

import functools
from types import FrameType
from typing import Any

from ... import OWN_FOLDER
from ...instrument.stacks import live_stack
from ...instrument.trace_sink import watch_records, write_note
from ...runtime.dynamo_skips import skip_modules
from ...runtime.libraries import torch_folder
from . import absent


def install() -> None:
    """Note each import of a stub, and each use of one that raises. Dynamo runs what stubs do as plain Python."""
    absent.on_need.append(_note)
    watch_records("dynamo_start", _skip_stubs)


def _note(frame: FrameType) -> None:
    stack: list[dict[str, Any]] = live_stack(frame, (torch_folder(), OWN_FOLDER, "<frozen"))
    write_note("compile_lens_stub", {"stack": stack, "file": absent.__file__})


@functools.cache
def _skip_modules() -> None:
    skip_modules(absent)


def _skip_stubs(_: FrameType) -> None:
    _skip_modules()
