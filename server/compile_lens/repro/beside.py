"""What lies beside a repro: the folder of its values. It may be in a workspace, where anybody may have put a link under its name."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from compile_lens.agent.runtime.regular_file import LARGEST_OF_RUNS, read_regular, read_regular_text
from compile_lens.repro.expressions import CannotWrite
from compile_lens.state.atomic_file import copy_beside, write_beside

# all values of a run: no tensors that one computes with here are larger
LARGEST_VALUES = 8 << 30
# as the agent names them (`agent/capture/tensors.py`); the run says which there are
_NAME_OF_VALUES = re.compile(r"saved_\d{1,6}")


def values_folder(out: Path) -> Path:
    """The folder of the values of the repro ``out``."""
    return out.with_name(f"{out.stem}_values")


def has_values(out: Path) -> bool:
    """Whether something has the name of that folder: it may be the user's."""
    return os.path.lexists(values_folder(out))


def copy_values(values: Path, folder: Path, names: Sequence[str] = ()) -> None:
    """Copy the tensors ``names``, by default all, to ``folder``, which is made. Raises CannotWrite where a link leads elsewhere, and where
    the run has left anything else than files of tensors."""
    if folder.is_symlink():
        raise CannotWrite(f"{folder} is a link. Give another path with -o.")
    if not all(isinstance(name, str) and _NAME_OF_VALUES.fullmatch(name) for name in names):
        raise CannotWrite("The run names values that it has not saved.")
    try:
        folder.mkdir(exist_ok=True)
        left = LARGEST_VALUES
        for file in [values / f"{name}.pt" for name in names] or sorted(values.glob("saved_*.pt")):
            left -= copy_beside(file, folder / file.name, left)
    except OSError as problem:
        raise CannotWrite(f"The values of the run cannot be copied: {problem}.") from None


def _present(out: Path) -> bytes | None:
    try:
        return read_regular(out, LARGEST_OF_RUNS) if out.exists() else None
    except OSError as problem:
        raise CannotWrite(f"{out} cannot be replaced: {problem.strerror}. Give another path with -o.") from None


def _restore(out: Path, before: bytes | None, is_new: bool) -> None:
    if before is None:
        out.unlink(missing_ok=True)
    else:
        write_beside(out, before)
    if is_new:
        shutil.rmtree(values_folder(out), ignore_errors=True)


def script_text(file: Path) -> str:
    """The text of a script that was written, and has been run since. Raises OSError if something else has taken its place."""
    return read_regular_text(file, LARGEST_OF_RUNS)


@contextlib.asynccontextmanager
async def nothing_left(out: Path) -> AsyncIterator[None]:
    """If writing the repro fails, remove what was written and restore the previous file. What was there before stays.

    Raises CannotWrite where something else than a file is in its place.
    """
    before = await asyncio.to_thread(_present, out)
    is_new = not has_values(out)
    try:
        yield
    except BaseException:  # raised again, an interrupt too
        _restore(out, before, is_new)
        raise
