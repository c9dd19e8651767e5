"""Places of secrets that are patterns: they are found where they exist, whatever the folders around them are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.agent.sandbox.secret_places import candidates, settings_with_secrets


@pytest.mark.parametrize("name", ["home", "a [b] c", "star*red"])
def test_a_pattern_may_be_a_folder(name: str, tmp_path: Path) -> None:
    home = tmp_path / name
    files = (
        ".ipython/profile_work/history.sqlite",
        ".config/JetBrains/PyCharm2026.1/c.kdbx",
        ".local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json",
        ".local/share/fish/fish_history",
    )
    for file in files:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).touch()
    assert {str(home / file) for file in files} <= set(candidates(str(home), {}))


def test_settings_are_secrets_where_one_is_in_them(tmp_path: Path) -> None:
    texts = {
        ".config/nix/nix.conf": "experimental-features = flakes\n",
        ".config/cachix/cachix.dhall": '{ authToken = "planted", hostname = "https://cachix.example" }\n',
        ".irssi/config": 'servers = ( { address = "irc.example"; port = "6667"; } );\n',
        ".config/zenml/config.yaml": "store:\n  type: rest\n  api_token: planted\n",
    }
    for file, text in texts.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    found = set(settings_with_secrets(str(tmp_path), {})) & {str(tmp_path / file) for file in texts}
    assert found == {str(tmp_path / ".config/cachix/cachix.dhall"), str(tmp_path / ".config/zenml/config.yaml")}
