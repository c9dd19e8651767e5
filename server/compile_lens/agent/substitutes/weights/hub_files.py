"""Which files of a repository of the Hugging Face hub are on this machine. Nothing is fetched for the answer."""

from __future__ import annotations

import sys
from collections.abc import Iterable

WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "tf_model.h5",
    "flax_model.msgpack",
)


def any_here(name: str, files: Iterable[str]) -> bool:
    """Whether any of ``files`` is in the folder ``name``, or in the cache for the repository ``name``. True where this cannot be told."""
    try:
        cached_file = sys.modules["transformers.utils.hub"].cached_file
        return any(
            cached_file(
                name,
                file,
                local_files_only=True,
                _raise_exceptions_for_gated_repo=False,
                _raise_exceptions_for_missing_entries=False,
                _raise_exceptions_for_connection_errors=False,
            )
            is not None
            for file in files
        )
    except Exception:  # another version of the library
        return True
