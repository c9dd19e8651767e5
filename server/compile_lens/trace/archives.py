"""Unpacks tar archives that anybody may have made: whatever they name is written below one folder, or not at all.

Python's own filters follow links that an archive has brought. In versions before 3.10.18, 3.11.13, 3.12.11 and 3.13.4, one that leads
through a long path is taken for harmless (CVE-2025-4517), and what the archive names behind it is written anywhere. Here, no link is there
before the last file has been written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever opens a trace that is no archive waits less
    import tarfile

EXECUTABLE = 0o100


def unpack(
    archive: tarfile.TarFile,
    folder: Path,
    wants: Callable[[tarfile.TarInfo], bool] = lambda _: True,
    with_links: bool = False,
) -> None:
    """Write the regular files of ``archive`` that it ``wants`` into an empty ``folder``; its symbolic links, too, ``with_links``.

    Raises OSError and tarfile.TarError; what comes before the damage is there then.
    """
    import shutil

    folder.mkdir(parents=True, exist_ok=True)
    links: list[tuple[Path, str]] = []
    for member in archive:
        place = _place(folder, member.name)
        if place is None:
            continue
        if member.issym() and with_links:
            links.append((place, member.linkname))
        elif member.isreg() and wants(member):
            place.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None
            with content, place.open("wb") as file:
                shutil.copyfileobj(content, file)
            if member.mode & EXECUTABLE:
                place.chmod(0o755)
    for place, target in links:
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # one name may be there twice; and Windows has no links for everybody
            place.symlink_to(target)


def _place(folder: Path, name: str) -> Path | None:
    """Where a member goes; None if that is not below ``folder``."""
    parts = [part for part in name.replace(os.sep, "/").split("/") if part not in ("", ".")]
    if not parts or ".." in parts or "\0" in name or (os.name == "nt" and ":" in name):
        return None
    return folder.joinpath(*parts)
