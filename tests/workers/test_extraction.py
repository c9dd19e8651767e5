"""Reading the tables of an installed torch: what was read is kept, and progress is told."""

from __future__ import annotations

import asyncio
import json
import sys
import zipfile
from pathlib import Path

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.tables import BUNDLED, open_tables
from compile_lens.workers.extraction import extract_tables, find_torch, table_path


def test_a_reading_that_was_interrupted_goes_on_from_there(tmp_path: Path) -> None:
    environment = {"COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    torch = find_torch(sys.executable)
    assert torch is not None
    path = table_path(torch, environment)
    parts = Path(f"{path}.parts")
    parts.mkdir(parents=True)
    left = {"log.json", "mode.json", "manifest.json"}
    with zipfile.ZipFile(BUNDLED) as archive:
        for name in set(archive.namelist()) - left:
            (parts / name).write_bytes(archive.read(name))
    (parts / "mode.json").write_text("{ half")
    (parts / "guard.json").write_text(json.dumps({"FROM_BEFORE": {"doc": "kept"}}))
    steps: list[tuple[str, int, int]] = []
    asyncio.run(extract_tables(torch, environment, lambda kind, done, of: steps.append((kind, done, of))))
    number = len(zipfile.ZipFile(path).namelist()) - 1
    assert [(done, of) for _, done, of in steps] == [(done, number) for done in range(1, number + 1)]
    tables = open_tables(path)
    assert tables is not None and tables.root == str(torch.folder.parent) and not tables.bundled
    assert {"fusion", "graph_breaks"} <= set(tables.table(KnowledgeKind.LOG))
    assert "max-autotune" in tables.table(KnowledgeKind.MODE)
    assert list(tables.table(KnowledgeKind.GUARD)) == ["FROM_BEFORE"]
    assert not parts.exists()
