"""Weights that a program downloads to a file and loads from there: where the download fails, an empty file takes its place, if all
that a run writes there is discarded. Elsewhere nothing is made: the user's next run would take it for the weights.

Who loads it is told that nothing is there (``checkpoints.py``). So a program which looks whether the file exists goes on, and one that
reads it as something else gets the error of its download.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from ...instrument.in_place import call_after_failure
from ...runtime.foreign_code import attempted
from ...runtime.missing_requirement import is_not_found
from ...runtime.regular_file import read_regular_text
from ...sandbox.policy import is_below
from .lookups import Lookups

_OF_WEIGHTS = re.compile(r"\.(?:pt|pth|ckpt|bin|safetensors)(?:\.tar)?$", re.IGNORECASE)
_LOADS, _INTO_MODEL = re.compile(r"\b(?:torch\.load|load_file)\("), re.compile(r"\bload_state_dict\(")
# from where the file is downloaded to where its way into the model is written
MOST_FILES = 12
# torch's own loader of addresses says itself what it did not find
_OF_TORCH_HUB = os.sep + os.path.join("torch", "hub.py")


class Downloads:
    """Changes to modules, applied when they are imported; and what each empty file stands for.

    ``kept`` are the folders in which what a run writes stays.
    """

    def __init__(self, lookups: Lookups, kept: tuple[str, ...]) -> None:
        self._lookups, self._kept = lookups, kept
        self._instead: dict[str, tuple[str, Exception]] = {}

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {
            "huggingface_hub.file_download": lambda module: self._change(module.hf_hub_download, self._of_hub),
            "torch.hub": lambda module: self._change(module.download_url_to_file, self._of_address),
            "urllib.request": lambda module: self._change(module.urlretrieve, self._retrieved),
            "gdown.download": lambda module: self._change(module.download, self._of_drive),
        }

    def absent(self, path: Any) -> tuple[str, Exception] | None:
        """The name of what should be in the file ``path``, and the error of its download; None for other files."""
        return self._instead.get(os.path.realpath(path)) if isinstance(path, (str, os.PathLike)) else None

    def _change(self, function: Any, instead: Callable[..., tuple[Any] | None]) -> None:
        def failed(error: Exception, /, *positional: Any, **named: Any) -> tuple[Any] | None:
            caller = sys._getframe(1).f_back
            if caller is None or caller.f_code.co_filename.endswith(_OF_TORCH_HUB):
                return None
            if not is_not_found(error) or self._lookups.depth > 0 or not self._lookups.may_substitute(error):
                return None
            if not any(map(_loads_weights, _files_of(caller))):
                return None
            return instead(error, *positional, **named)

        call_after_failure(function, failed)

    def _of_hub(self, error: Exception, /, repo_id: Any = "", filename: Any = "", **_: Any) -> tuple[str] | None:
        name = f"{repo_id}/{filename}"
        folder = os.path.join(tempfile.gettempdir(), f"absent-{os.urandom(8).hex()}")
        path = self._place(error, name, os.path.join(folder, *name.replace("..", "").split("/")))
        return None if path is None else (path,)

    def _of_address(self, error: Exception, /, url: Any, dst: Any, *_: Any, **__: Any) -> tuple[None] | None:
        return None if self._place(error, str(url), dst) is None else (None,)

    def _retrieved(self, error: Exception, /, url: Any, filename: Any = None, *_: Any, **__: Any) -> Any:
        from email.message import Message

        path = self._place(error, str(url), filename)
        return None if path is None else ((path, Message()),)

    def _of_drive(
        self, error: Exception, /, url: Any = None, output: Any = None, *_: Any, id: Any = None, **__: Any
    ) -> tuple[Any] | None:
        return None if self._place(error, str(url or id), output) is None else (output,)

    def _place(self, error: Exception, name: str, path: Any) -> str | None:
        """The path of an empty file for weights that were not downloaded; None for other files, and where one cannot be written. There
        is no file where it would stay."""
        if not isinstance(path, (str, os.PathLike)) or not _OF_WEIGHTS.search(os.fspath(path)):
            return None
        place = Path(path)
        try:
            if not is_below(os.path.realpath(place), self._kept):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        except OSError:
            return None
        self._instead[os.path.realpath(place)] = name, error
        return os.fspath(path)


def _files_of(frame: FrameType | None) -> list[str]:
    """The files of the calls that lead to ``frame``, the nearest first."""
    found: dict[str, None] = {}
    while frame is not None and len(found) < MOST_FILES:
        found[frame.f_code.co_filename] = None
        frame = frame.f_back
    return list(found)


@functools.lru_cache(maxsize=64)
def _loads_weights(file: str) -> bool:
    """Whether a file loads tensors, and gives a state to a model."""
    text = attempted(lambda: read_regular_text(file)) or ""
    return _LOADS.search(text) is not None and _INTO_MODEL.search(text) is not None
