"""What the VS Code extension starts loads nothing that a variable names in an opened folder; programs get the variables whole."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.workers.loaded_before import NAMES

CLIENT = Path(__file__).parent.parent / "vscode-client"
SOURCE = CLIENT / "src" / "loadedVariables.ts"
ESBUILD = CLIENT / "node_modules" / ".bin" / "esbuild"
SERVER = CLIENT / "bundled" / "tool" / "lsp_server.py"


def test_they_are_those_that_the_server_knows() -> None:
    assert NAMES.pattern in SOURCE.read_text().replace("/^", "^").replace("$/;", "$;")


@pytest.mark.skipif(
    shutil.which("node") is None or not ESBUILD.exists(), reason="needs node, and what `make setup` installs"
)
def test_what_an_opened_folder_has_is_left_out_and_passed_on(tmp_path: Path) -> None:
    module, opened = tmp_path / "module.cjs", tmp_path / "opened"
    opened.mkdir()
    (tmp_path / "link").symlink_to(opened)
    subprocess.run(
        [ESBUILD, SOURCE, "--bundle", "--platform=node", "--format=cjs", f"--outfile={module}", "--log-level=error"],
        check=True,
    )
    given = {
        "LD_PRELOAD": f"/opt/a.so {opened}/b.so",
        "LD_LIBRARY_PATH": f"/opt/x;{opened}/$LIB:$ORIGIN/y:/opt/$LIB",
        "PYTHONPATH": f":{tmp_path}/link/package:relative:/opt/tools",
        "OPENSSL_CONF": str(opened / "openssl.cnf"),
        "PYTHONHOME": "/opt/python",
        "OTHER": str(opened),
    }
    script = (
        f"const m = require({json.dumps(str(module))}); const [given, folders] = JSON.parse(process.argv[1]);"
        "const are = [folders[0] + '/x', '/x'].map((place) => m.isElsewhere(place, folders));"
        "console.log(JSON.stringify([m.startVariables(given, folders), ...are]))"
    )
    said = subprocess.check_output(["node", "-e", script, json.dumps([given, [str(opened)]])])
    variables, inside, elsewhere = json.loads(said)
    passed_on = json.loads(variables.pop("COMPILE_LENS_GIVEN"))
    assert variables == {
        "LD_PRELOAD": "/opt/a.so",
        "LD_LIBRARY_PATH": "/opt/x:/opt/$LIB",
        "PYTHONPATH": "/opt/tools",
        "OPENSSL_CONF": "",
    }
    assert passed_on == {name: given[name] for name in variables}
    assert [inside, elsewhere] == [False, True]


def test_the_server_has_what_was_left_out(tmp_path: Path) -> None:
    package = tmp_path / "compile_lens" / "cli"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "main.py").write_text(
        "import os\ndef main():\n    print(os.environ['LD_PRELOAD'], 'COMPILE_LENS_GIVEN' in os.environ)\n"
    )
    given = json.dumps({"LD_PRELOAD": "/opened/b.so"})
    variables = {**os.environ, "PYTHONPATH": str(tmp_path), "LD_PRELOAD": "", "COMPILE_LENS_GIVEN": given}
    command = [sys.executable, str(SERVER), "fromEnvironment", "serve"]
    said = subprocess.check_output(command, env=variables, text=True, cwd=tmp_path)
    assert re.fullmatch(r"/opened/b\.so False\s*", said)
