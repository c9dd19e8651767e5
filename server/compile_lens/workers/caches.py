"""Private caches: a background run never reads or writes the caches of the user's own torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs


def cache_root() -> Path:
    """Where Compile Lens keeps what can be made again."""
    return Path(platformdirs.user_cache_dir("compile-lens", appauthor=False))


def private_cache_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that lead torch and triton to caches of ours, kept between runs for speed.

    ``COMPILE_LENS_CACHE_DIR`` in ``environment`` moves them (tests and CI).
    """
    root = Path(environment["COMPILE_LENS_CACHE_DIR"]) if environment.get("COMPILE_LENS_CACHE_DIR") else cache_root()
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(root / "inductor"),
        "TRITON_CACHE_DIR": str(root / "triton"),
    }
