"""A link in the place of a folder of the caches leads to what is somebody else's: it is neither measured, looked through nor deleted."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from compile_lens.workers.cache_limit import clear, limit, measure

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The caches, where a part and an older layout are links, and the folder of the user's that they lead to."""
    root, mine = tmp_path / "cache" / "v1", tmp_path / "documents"
    for folder in (root, mine / "thesis"):
        folder.mkdir(parents=True)
    (mine / "thesis" / "chapter").write_text("1" * 5000)
    long_ago = time.time() - 365 * 24 * 3600
    os.utime(mine / "thesis" / "chapter", (long_ago, long_ago))
    for link in (root / "inductor", root.parent / "v0"):
        link.symlink_to(mine)
    return root, mine


def test_what_a_link_leads_to_is_not_measured(places: tuple[Path, Path]) -> None:
    root, mine = places
    mine.joinpath("thesis").chmod(0o100)
    assert [(part.files, part.bytes) for part in measure(root) if part.name == "inductor"] == [(0, 0)]
    assert mine.joinpath("thesis").stat().st_mode & 0o777 == 0o100
    mine.joinpath("thesis").chmod(0o700)


def test_what_a_link_leads_to_stays(places: tuple[Path, Path]) -> None:
    root, mine = places
    assert limit(root, 0, now=True) == 0
    assert (root.parent / "v0").is_symlink()
    assert clear(root) == 0
    assert not (root / "inductor").is_symlink()
    assert (mine / "thesis" / "chapter").stat().st_size == 5000
