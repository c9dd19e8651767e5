"""Names in shared memory cost memory of the kernel's, whatever is behind them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime.shared_files import NAME_BYTES, SharedFiles

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux", reason="shared memory is a folder there"),
]
LINKS = 40
SIZE = 5 * NAME_BYTES


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(f"/dev/shm/compile-lens-names-{os.getpid()}")
    yield path
    shutil.rmtree(path, ignore_errors=True)


def below(folder: Path, found: dict[str, int]) -> list[int]:
    return sorted(size for path, size in found.items() if path.startswith(str(folder)))


def test_each_name_counts_though_its_file_is_empty(folder: Path) -> None:
    shared = SharedFiles()
    folder.mkdir()
    kept = (folder / "file").open("wb")
    for number in range(LINKS):
        os.link(folder / "file", folder / f"link-{number}")
    (folder / "symbolic").symlink_to("x" * 2000)
    shared.look({os.getpid()})
    assert shared.names >= LINKS + 3
    assert shared.look_at_sizes().bytes >= NAME_BYTES * (LINKS + 3)
    # what has a size counts by it, once
    kept.write(bytes(SIZE))
    kept.flush()
    assert below(folder, shared.of_run({os.getpid()})) == [*[NAME_BYTES] * (LINKS + 2), SIZE]
    kept.close()
    shared.remove_left()
    assert [path.name for path in folder.iterdir()] == ["symbolic"]
