"""Calls that are not part of the run: made without logs, warnings and trace records, or without compilation."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """Write no log, no warning and no record of the structured trace."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


_uncompiled = 0


@contextlib.contextmanager
def uncompiled() -> Iterator[None]:
    """Run compiled functions eagerly. That is our stance, and not one of the program's."""
    global _uncompiled
    import torch

    _uncompiled += 1
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        _uncompiled -= 1


def is_uncompiled() -> bool:
    """Whether calls that are made now run eagerly because we want them to."""
    return _uncompiled > 0
