"""The process that reads long documents runs nothing of the workspace in which the editor has started the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.pipeline.facts_process import FactsProcess


async def test_no_module_of_the_workspace_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pickle", "queue", "struct", "tree_sitter", "compile_lens"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise ImportError\n")
    monkeypatch.chdir(tmp_path)
    process = FactsProcess()
    try:
        facts = await process.read("import torch\n\n@torch.compile\ndef f(x):\n    return x\n")
    finally:
        await process.close()
    assert facts is not None
    assert not (tmp_path / "ran").exists()
