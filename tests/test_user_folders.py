"""What the user has allowed is read from a folder of their own, whatever platformdirs makes of a variable."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from compile_lens.documents.shared_texts import sockets_folder
from compile_lens.state.consent import ConsentStore
from compile_lens.user_folders import cache_folder, state_folder
from compile_lens.workers.caches import cache_root

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the places of other systems are others")


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """platformdirs up to 4.9, in short."""

    def named(variable: str, usual: str) -> Callable[..., str]:
        return lambda name, appauthor: str(Path(os.environ.get(variable) or Path("~", usual).expanduser()) / name)

    monkeypatch.setattr(platformdirs, "user_state_dir", named("XDG_STATE_HOME", ".local/state"))
    monkeypatch.setattr(platformdirs, "user_cache_dir", named("XDG_CACHE_HOME", ".cache"))


@pytest.mark.usefixtures("older")
@pytest.mark.parametrize(
    "variables", [{"XDG_STATE_HOME": "s", "XDG_CACHE_HOME": "c", "XDG_RUNTIME_DIR": "r"}, {"HOME": "."}]
)
def test_no_folder_of_the_current_one_says_what_is_allowed(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "COMPILE_LENS_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    brought = tmp_path / variables.get("XDG_STATE_HOME", ".local/state") / "compile-lens"
    ConsentStore(brought / "consent").allow(tmp_path)
    (tmp_path / "r").mkdir()
    assert tmp_path not in ConsentStore.of_user().roots()
    for folder in (state_folder(), cache_folder(), cache_root({}), sockets_folder()):
        assert folder.is_absolute() and not folder.is_relative_to(tmp_path)


def test_usually_it_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "compile-lens"
