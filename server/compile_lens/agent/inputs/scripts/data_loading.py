"""Has data loaders read in the process of the program: a few batches are enough, and workers take longer to start, or cannot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def without_workers() -> Iterator[None]:
    """Loaders that begin to read while the body runs use no workers."""
    from torch.utils import data

    loader: Any = data.DataLoader
    original = loader.__iter__

    def read(self: Any) -> Any:
        if self.num_workers:
            self.num_workers, self.timeout, self.prefetch_factor = 0, 0, None
            self.multiprocessing_context = None
        return original(self)

    loader.__iter__ = read
    try:
        yield
    finally:
        loader.__iter__ = original
