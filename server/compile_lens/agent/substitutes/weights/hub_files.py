"""Which files of a Hugging Face repository are on this machine, without network access."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ...runtime.degraded import degraded

WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "tf_model.h5",
    "flax_model.msgpack",
)


def any_here(name: str, files: Iterable[str]) -> bool:
    """Whether any of ``files`` is in the folder ``name`` or in the cache of the repository ``name``. True where that is unknown."""
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
    except (OSError, ValueError):  # not the name of a repository
        return True
    except Exception as error:  # another version of the library may raise anything
        degraded("the look-up of files in the Hugging Face cache", error)
        return True
