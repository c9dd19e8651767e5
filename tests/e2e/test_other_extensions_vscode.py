"""The extension in a real VS Code beside others: those that choose an interpreter, and one that lists the tools for assistants."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from shown import SMALL, underlined
from workbench import CLIENT, PYTHON, Lab, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.xdist_group("vscode")]

PYTHON_EXTENSION = """\
exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ id: "chosen", path: "chosen" }),
    resolveEnvironment: async ({ id }) => ({ executable: { uri: require("vscode").Uri.file(%s) }, id }),
    onDidChangeActiveEnvironmentPath: () => ({ dispose() {} }),
  },
});
"""

# knows nothing before there is a file, as one that is turned off
ENVIRONMENTS_EXTENSION = """\
const fs = require("fs");
const changed = new (require("vscode").EventEmitter)();
const [mark, executable] = [%s, %s];
fs.watchFile(mark, { interval: 200 }, () => changed.fire({}));
exports.activate = () => ({
  getEnvironment: async () => (fs.existsSync(mark) ? { execInfo: { run: { executable } } } : undefined),
  onDidChangeEnvironment: changed.event,
});
"""


# writes what the editor lists for assistants
TOOLS_EXTENSION = """\
const fs = require("fs");
const vscode = require("vscode");
const file = %s;
const list = () => {
  fs.writeFileSync(`${file}.new`, JSON.stringify(vscode.lm.tools.map(({ name }) => name)));
  fs.renameSync(`${file}.new`, file);
};
exports.activate = () => setInterval(list, 500);
"""


def pack_extension(vsix: Path, name: str, main: str) -> None:
    """A stand-in for the extension ``ms-python.NAME``, with the part of its API that is used."""
    identity = f'Id="{name}" Version="1.0.0" Publisher="ms-python" Language="en-US"'
    engine = '<Property Id="Microsoft.VisualStudio.Code.Engine" Value="^1.90.0"/>'
    manifest: dict[str, Any] = {"name": name, "publisher": "ms-python", "version": "1.0.0", "main": "./main.js"}
    manifest["activationEvents"] = ["onStartupFinished"]
    with zipfile.ZipFile(vsix, "w") as archive:
        archive.writestr(
            "extension.vsixmanifest",
            '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">'
            f"<Metadata><Identity {identity}/><Properties>{engine}</Properties></Metadata>"
            '<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"/></Assets>'
            "</PackageManifest>",
        )
        archive.writestr("extension/package.json", json.dumps({**manifest, "engines": {"vscode": "^1.90.0"}}))
        archive.writestr("extension/main.js", main)


def test_uses_the_interpreter_of_the_python_extensions_and_follows_it(
    lab: Lab, vsix: Path, terminal: dict[str, list[dict[str, Any]]], tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    (folder / "small.py").write_text(SMALL)
    pythons, extensions = [tmp_path / "first", tmp_path / "second"], (tmp_path / "python.vsix", tmp_path / "envs.vsix")
    for python in pythons:
        python.write_text(f'#!/bin/sh\ntouch "{python}.ran"\nexec "{PYTHON}" "$@"\n')
        python.chmod(0o755)
    first, second = map(str, pythons)
    chosen = str(tmp_path / "chosen.in.environments")
    pack_extension(extensions[0], "python", PYTHON_EXTENSION % json.dumps(first))
    environments = ENVIRONMENTS_EXTENSION % (json.dumps(chosen), json.dumps(second))
    pack_extension(extensions[1], "vscode-python-envs", environments)
    data = {"file": "small.py", "first": first, "second": second, "chosen": chosen}
    data["underlined"] = underlined(terminal["small.py"], SMALL)
    with Workbench(lab, vsix, {}, others=extensions) as workbench:
        workbench.play("interpreter", folder, shots, data, limit=300)
    workbench.assert_nothing_is_left()
    assert Path(f"{first}.ran").exists() and Path(f"{second}.ran").exists()


def test_the_editor_lists_the_tools_and_the_server_for_assistants(
    lab: Lab, vsix: Path, tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "assistants"
    (folder / ".vscode").mkdir(parents=True)
    (folder / "small.py").write_text("import torch\n")
    (folder / ".vscode" / "settings.json").write_text('{"chat.disableAIFeatures": false}')
    listed, extension = tmp_path / "tools.json", tmp_path / "tools.vsix"
    pack_extension(extension, "tools", TOOLS_EXTENSION % json.dumps(str(listed)))
    tools = [
        each["name"] for each in json.loads((CLIENT / "package.json").read_text())["contributes"]["languageModelTools"]
    ]
    own_server = {"compileLens.server.command": [PYTHON, "-m", "compile_lens", "serve"]}
    data = {"file": "small.py", "tools": tools, "listed": str(listed), "mcp": False}
    with Workbench(lab, vsix, own_server, others=(extension,)) as workbench:
        seen = workbench.play("assistants", folder, shots, data, limit=300)["seen"]
        assert len([name for name in seen if name.startswith("compile-lens_")]) == len(tools) == 8
        # with an interpreter that has the package, the extension offers the server
        machine = {"compileLens.interpreter": [PYTHON], "compileLens.importStrategy": "fromEnvironment"}
        (workbench.profile / "data" / "Machine" / "settings.json").write_text(json.dumps(machine))
        seen = workbench.play("assistants", folder, shots, {**data, "mcp": True}, limit=300)["seen"]
        assert "Compile Lens" in " ".join(seen)
    workbench.assert_nothing_is_left()
