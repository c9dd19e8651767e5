---@brief
---
--- Shows what torch.compile did with a Python file: graph breaks, recompiles and compile errors, at the line that causes them.
---
--- Install the server into the environment that has torch: `pip install compile-lens`.
--- It asks once per workspace before it runs a file. `vim.lsp.codelens.refresh()` shows the result of each region.

---@type vim.lsp.Config
return {
  cmd = { 'compile-lens', 'serve' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', '.git' },
  settings = {
    compileLens = {
      -- ask: once per workspace; always; never: only on request
      run = { enabled = 'ask' },
    },
  },
}
