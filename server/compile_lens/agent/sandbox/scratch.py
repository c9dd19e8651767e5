"""Deletes the scratch folder of a run."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable
from typing import Any


def remove_folder(folder: str) -> None:
    """Delete a scratch folder even if the program changed permissions in it."""

    def open_and_retry(function: Callable[[str], Any], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            for entry in (os.path.dirname(path), path):
                if not os.path.islink(entry):
                    os.chmod(entry, stat.S_IRWXU)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                function(path)

    shutil.rmtree(folder, onerror=open_and_retry)
