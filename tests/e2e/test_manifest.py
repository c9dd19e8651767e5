"""The extension's manifest agrees with the server, and is what the marketplace and a user of the palette need."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from workbench import CLIENT

from compile_lens.assistants.editor_tools import PREFIX, WHEN, contributed
from compile_lens.settings.groups import grouped

# they say which server is started and by what: a workspace must not
STARTS_THE_SERVER = {f"compileLens.{name}" for name in ("interpreter", "path", "importStrategy", "server.command")}
OWN_SETTINGS = {*STARTS_THE_SERVER, "compileLens.trace.server"}
MANIFEST = json.loads((CLIENT / "package.json").read_text())
SETTINGS = {
    name: each for group in MANIFEST["contributes"]["configuration"] for name, each in group["properties"].items()
}


def test_settings_are_those_of_the_server() -> None:
    """After a change: ``python -m compile_lens.settings.groups | npm run settings`` in ``vscode-client``."""
    *groups, own = MANIFEST["contributes"]["configuration"]
    assert groups == grouped()
    assert set(own["properties"]) == OWN_SETTINGS


def test_the_table_of_the_gallery_has_every_setting_once() -> None:
    page = (CLIENT / "README.md").read_text()
    rows = re.findall(r"^\| `(compileLens\.[\w.]+)` \| (.+) \|$", page, re.MULTILINE)
    texts = [(name, each["markdownDescription"]) for name, each in SETTINGS.items()]
    assert rows == [(name, re.sub(r"`#([\w.]+)#`", r"`\1`", text).replace("|", r"\|")) for name, text in texts]


def test_each_picture_and_command_of_the_walkthrough_exists() -> None:
    (walkthrough,) = MANIFEST["contributes"]["walkthroughs"]
    commands = {each["command"] for each in MANIFEST["contributes"]["commands"]}
    views = {each["id"] for each in MANIFEST["contributes"]["views"]["compileLens"]}
    for step in walkthrough["steps"]:
        assert all((CLIENT / picture).is_file() for picture in step["media"]["image"].values())
        assert step["media"]["altText"]
        linked = re.findall(r"\(command:([\w.]+)\)", step["description"])
        assert {name.removesuffix(".focus") for name in linked} <= commands | views
    keys = MANIFEST["contributes"]["keybindings"]
    assert len({key["key"] for key in keys}) == len(keys) == 6
    assert {key["command"].removesuffix(".focus") for key in keys} <= commands | views


def test_a_workspace_that_is_not_trusted_cannot_say_what_is_executed() -> None:
    restricted = set(MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"])
    assert {"compileLens.python", "compileLens.run.enabled", *STARTS_THE_SERVER} <= restricted
    assert {SETTINGS[name]["scope"] for name in STARTS_THE_SERVER} == {"machine"}


@pytest.mark.parametrize("command", MANIFEST["contributes"]["commands"], ids=lambda command: command["command"])
def test_every_command_is_found_in_the_palette(command: dict[str, str]) -> None:
    assert command["category"] == "Compile Lens"
    # the language client registers the server's commands by their own names; two of one name would stop the extension
    server = (CLIENT / "src" / "protocol.ts").read_text()
    assert f'"{command["command"]}"' not in server


@pytest.mark.parametrize("name", ["package-lock.json", ".npmrc"])
def test_no_registry_is_named(name: str) -> None:
    """Whoever installs the extension's packages uses the registry of their own set-up."""
    text = Path(CLIENT / name).read_text()
    assert '"resolved"' not in text
    assert "registry=" not in text


def test_the_tools_of_assistants_are_those_of_the_server() -> None:
    """After a change: ``python -m compile_lens.assistants.editor_tools`` prints them."""
    contributes = MANIFEST["contributes"]
    assert contributes["languageModelTools"] == contributed()
    assert [each["id"] for each in contributes["mcpServerDefinitionProviders"]] == ["compileLens"]
    source = (CLIENT / "src" / "assistants.ts").read_text()
    assert f'const prefix = "{PREFIX}"' in source and f'const offersMcp = "{WHEN.removeprefix("!")}"' in source
