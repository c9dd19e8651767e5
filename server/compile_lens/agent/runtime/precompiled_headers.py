"""Where Inductor keeps precompiled headers: torch takes its *default* cache directory, which is the user's, whatever it is told.

torch/_inductor/codecache.py, torch 2.9 to 2.13.
"""

from __future__ import annotations

import os
from typing import Any


def keep_private(codecache: Any) -> bool:
    """Keep them below ``TORCHINDUCTOR_CACHE_DIR`` instead. False where this torch has no such place, or nothing is set."""
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not cache or not hasattr(codecache, "_HEADER_DIR"):
        return False
    codecache._HEADER_DIR = os.path.join(cache, "precompiled_headers")
    codecache._HEADER_LOCK_DIR = os.path.join(codecache._HEADER_DIR, "locks")
    return True
