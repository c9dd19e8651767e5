"""A notebook in a real VS Code: what is found stands in the cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workbench import Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.xdist_group("vscode")]

IMPORTS = "%matplotlib inline\nimport torch"
REGION = '@torch.compile\ndef f(x):\n    y = x.sin()\n    print("here")\n    return y.cos()'
CALL = "%time y = f(torch.ones(3))"


def code(text: str) -> dict[str, object]:
    lines = text.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


def test_findings_stand_in_their_cells(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "notebook"
    folder.mkdir()
    title = {"cell_type": "markdown", "metadata": {}, "source": ["# A model\n"]}
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [title, *map(code, (IMPORTS, REGION, CALL))], "metadata": kernel, "nbformat": 4}
    (folder / "model.ipynb").write_text(json.dumps({**notebook, "nbformat_minor": 5}))
    call = 'print("here")'
    clean = [{"shown": shown, "underlined": []} for shown in ("import torch", "return y.cos()", "%time")]
    data = {
        "file": "model.ipynb",
        "cells": [
            clean[0],
            {
                "shown": "return y.cos()",
                "underlined": [{"text": call, "severity": "warning"}],  # cells show no line numbers
                "hover": {"line": call, "text": "print", "says": ["Graph break", "GB0059", "What to do"]},
            },
            clean[2],
        ],
        "mended": {"line": call, "then": clean},
    }
    workbench.play("notebook", folder, shots, data, limit=400)
