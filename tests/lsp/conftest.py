"""A workspace folder, and an editor that has opened it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from editor import Editor, editor
from programs import ALWAYS


@pytest.fixture(autouse=True, scope="session")
def private_sockets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers that are killed leave their sockets here, and not where those of the user are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        yield


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
async def raw(root: Path) -> AsyncIterator[Editor]:
    """An editor that has said nothing yet; its server's analysis is a stub."""
    async with editor(root.parent) as found:
        yield found


@pytest.fixture
async def ed(root: Path, raw: Editor) -> Editor:
    """An editor that pushes, in a workspace where everything may run."""
    await raw.initialize(root, ALWAYS)
    return raw
