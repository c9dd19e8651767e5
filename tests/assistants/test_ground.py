"""Which files a coding assistant may have run: those of the workspaces that the user has allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.assistants.ground import NotAllowed, OwnGround
from compile_lens.state.consent import ConsentStore


def test_who_allowed_a_file_of_a_folder_has_not_allowed_what_lies_below(tmp_path: Path) -> None:
    home, store = tmp_path / "home", ConsentStore(tmp_path / "consent")
    (home / "downloads").mkdir(parents=True)
    (home / "out").symlink_to("downloads")
    (home / "out.py").symlink_to("downloads/train.py")
    store.allow(home, with_subfolders=False)
    ground = OwnGround(consent=store)
    ground.allow(str(home / "train.py"))
    for file in ("downloads/train.py", "out/train.py", "out.py", "downloads/../downloads/train.py"):
        with pytest.raises(NotAllowed):
            ground.allow(str(home / file))
    store.allow(home)
    ground.allow(str(home / "downloads" / "train.py"))
