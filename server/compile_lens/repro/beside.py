"""What lies beside a repro: the folder of its values. It may be in a workspace, where anybody may have put a link under its name."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from compile_lens.repro.expressions import CannotWrite
from compile_lens.state.atomic_file import copy_beside, write_beside


def values_folder(out: Path) -> Path:
    """The folder of the values of the repro ``out``."""
    return out.with_name(f"{out.stem}_values")


def has_values(out: Path) -> bool:
    """Whether something has the name of that folder: it may be the user's."""
    return os.path.lexists(values_folder(out))


def copy_values(values: Path, folder: Path, names: Sequence[str] = ()) -> None:
    """Copy the tensors ``names``, by default all, to ``folder``, which is made. Raises CannotWrite for a link that leads elsewhere."""
    if folder.is_symlink():
        raise CannotWrite(f"{folder} is a link. Give another path with -o.")
    folder.mkdir(exist_ok=True)
    for file in [values / f"{name}.pt" for name in names] or sorted(values.iterdir()):
        copy_beside(file, folder / file.name)


@contextlib.contextmanager
def nothing_left(out: Path) -> Iterator[None]:
    """If writing the repro fails, remove what was written and restore the previous file. What was there before stays."""
    before = out.read_bytes() if out.exists() else None
    is_new = not has_values(out)
    try:
        yield
    except BaseException:  # raised again, an interrupt too
        if before is None:
            out.unlink(missing_ok=True)
        else:
            write_beside(out, before)
        if is_new:
            shutil.rmtree(values_folder(out), ignore_errors=True)
        raise
