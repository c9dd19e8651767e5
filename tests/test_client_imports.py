"""The modules of the VS Code client import each other in one direction only."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "vscode-client" / "src"
IMPORT = re.compile(r"""^(?:import|export)\b[^;]*?\bfrom\s+["']\./([\w/-]+)["'];""", re.MULTILINE)


def test_the_client_has_no_import_circle() -> None:
    """Type imports count, too: what two modules share belongs in a third."""
    imports = {file.stem: set(IMPORT.findall(file.read_text())) for file in SOURCES.glob("*.ts")}
    assert {"protocol", "settings", "entries"} <= imports["server"], "the pattern no longer finds imports"
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle
