"""Where Inductor keeps precompiled headers: torch takes its *default* cache directory, which is the user's, whatever it is told.

torch/_inductor/codecache.py, torch 2.9 to 2.13.
"""

from __future__ import annotations

import os

from ..torch_internals.inductor import HEADER_FOLDER, HEADER_LOCKS


def keep_private() -> bool:
    """Keep them below ``TORCHINDUCTOR_CACHE_DIR`` instead. False where this torch has no such place, or nothing is set."""
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not cache:
        return False
    folder = os.path.join(cache, "precompiled_headers")
    return HEADER_FOLDER.set(folder) and HEADER_LOCKS.set(os.path.join(folder, "locks"))
