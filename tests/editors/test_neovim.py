"""Neovim with `editors/neovim`: the question, the findings, a hover, a lens, and no process left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from processes import Mark

ROOT = Path(__file__).resolve().parents[2]
PLACES = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
NVIM = os.environ.get("NVIM_FOR_TESTS") or shutil.which("nvim", path=PLACES)
Run = Callable[[list[str], Path], dict[str, Any]]
SCRIPT = """\
local told, asked = {}, {}
vim.ui.select = function(items, options, choose)
  table.insert(asked, options.prompt)
  for index, item in ipairs(items) do
    if item.title == 'Allow' then return choose(item, index) end
  end
  choose(nil)
end
vim.opt.runtimepath:prepend(vim.env.CONFIGURATION)
vim.lsp.enable('compile_lens')
vim.cmd('filetype on')
vim.cmd.edit(vim.env.PROGRAM)
local function client() return vim.lsp.get_clients({ name = 'compile_lens' })[1] end
local function found()
  return vim.tbl_filter(function(d) return d.source == 'compile-lens' end, vim.diagnostic.get(0))
end
vim.wait(120000, function() return #found() > 0 end, 50)
local finding = found()[1] or {}
told.asked = asked
told.code, told.line = finding.code, finding.lnum
local position = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 5, character = 6 } }
local hover = client():request_sync('textDocument/hover', position, 30000)
told.hover = hover and hover.result and hover.result.contents.value
local lenses = client():request_sync('textDocument/codeLens', { textDocument = position.textDocument }, 30000)
told.lenses = vim.tbl_map(function(lens) return lens.command.title end, lenses.result)
local file = io.open(vim.env.TOLD, 'w')
file:write(vim.json.encode(told))
file:close()
vim.cmd('qall!')
"""


def _is_new() -> bool:
    """`vim.lsp.config` is part of Neovim since 0.11."""
    if NVIM is None:
        return False
    said = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=False).stdout
    major, minor = said.split("\n")[0].removeprefix("NVIM v").split(".")[:2] if said else ("0", "0")
    return (int(major), int(minor)) >= (0, 11)


@pytest.mark.nightly
@pytest.mark.skipif(not _is_new(), reason="Neovim 0.11 or later is not here; NVIM_FOR_TESTS names one")
def test_neovim_shows_what_torch_compile_did(project: Path, run: Run, mark: Mark) -> None:
    script = project.parent / "script.lua"
    script.write_text(SCRIPT)
    said = run([str(NVIM), "--headless", "--clean", "-l", str(script)], ROOT / "editors" / "neovim")
    assert (said.get("code"), said.get("line")) == ("GB0059", 5), said
    assert any("Compile Lens" in question for question in said["asked"])
    assert said["hover"].startswith("**Graph break** `GB0059`")
    assert any("1 break" in title for title in said["lenses"])
    assert mark.none_left()
