// Installs the language server into `bundled/` for the VSIX: `npm run bundle [-- PYTHON]`, before `npm run package`.
// The VSIX then works on the platform that built it, with each Python version below.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const versions = ["3.10", "3.11", "3.12", "3.13", "3.14"];
const repository = fileURLToPath(new URL("../..", import.meta.url));
const bundled = fileURLToPath(new URL("../bundled", import.meta.url));
const python = process.argv[2] ?? "python3";

function install(target, ...what) {
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-compile", "--no-warn-conflicts"];
  execFileSync(python, ["-m", "pip", "install", ...quiet, "--target", target, ...what], { stdio: "inherit" });
}

rmSync(bundled, { recursive: true, force: true });
// cattrs needs exceptiongroup on Python 3.10; pip skips it when a newer Python runs it
install(bundled, repository, "exceptiongroup");

// tree-sitter is the only dependency with a wheel per Python version; its binaries can be installed side by side.
const [, treeSitter] = readdirSync(bundled).map((name) => /^tree_sitter-(.+)\.dist-info$/.exec(name)).find(Boolean);
const binary = /^_binding\..*\.(so|pyd)$/;
for (const version of versions) {
  const folder = mkdtempSync(join(tmpdir(), "compile-lens-"));
  install(folder, "--no-deps", "--only-binary=:all:", `--python-version=${version}`, `tree-sitter==${treeSitter}`);
  for (const name of readdirSync(join(folder, "tree_sitter")).filter((name) => binary.test(name))) {
    copyFileSync(join(folder, "tree_sitter", name), join(bundled, "tree_sitter", name));
  }
  rmSync(folder, { recursive: true });
}

// `python bundled serve` runs this file with `bundled` first on sys.path, and without the working directory.
writeFileSync(join(bundled, "__main__.py"), "from compile_lens.cli.main import main\n\nmain()\n");
