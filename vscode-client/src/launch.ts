// Which server to start: the command from the setting, the one bundled in this VSIX, or the one in the user's environment.
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

import { interpreterFor, serverCommand } from "./settings";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** The interpreter that must have the package `compile_lens`; absent if the command is the user's own or the server is bundled. */
  readonly needsPackageIn?: string;
}

export async function resolveLaunch(extensionPath: string): Promise<Launch> {
  const [command, ...args] = serverCommand() ?? [];
  if (command) {
    return { command, args };
  }
  const python = (await interpreterFor()) || (process.platform === "win32" ? "python" : "python3");
  const bundled = path.join(extensionPath, "bundled");
  // A folder with a __main__.py runs like a script: sys.path starts with it, whatever is in the working directory.
  if (fs.existsSync(path.join(bundled, "__main__.py"))) {
    return { command: python, args: [bundled, "serve"] };
  }
  return { command: python, args: ["-m", "compile_lens", "serve"], needsPackageIn: python };
}

/** Why the server does not start, in one sentence for the status bar item. */
export async function explainFailure(launch: Launch, error: unknown): Promise<string> {
  const python = launch.needsPackageIn;
  if (python === undefined) {
    return `The language server did not start: ${launch.command} ${launch.args.join(" ")}`;
  }
  const found = await new Promise<string | undefined>((resolve) => {
    const probe = "import importlib.util as u; print(u.find_spec('compile_lens') is not None)";
    execFile(python, ["-c", probe], { cwd: path.dirname(process.execPath), timeout: 10_000 }, (failure, stdout) =>
      resolve(failure ? undefined : stdout.trim()),
    );
  });
  switch (found) {
    case "False":
      return `The package compile-lens is not installed in ${python}. Run ${python} -m pip install compile-lens, or set compileLens.python.`;
    case "True":
      return `The language server did not start: ${error instanceof Error ? error.message : String(error)}`;
    default:
      return `${python} cannot be run: set compileLens.python to a Python interpreter.`;
  }
}
