"""Calls that are not part of the run: made without logs, warnings and trace records, or without compilation."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any


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


def uncompiled() -> Any:
    """A context in which compiled functions run eagerly."""
    import torch

    return torch.compiler.set_stance("force_eager")
