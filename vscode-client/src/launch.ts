// Which server to start: the command from the settings, else the one that this extension carries, with a Python that can run it.
import * as path from "node:path";

import { startVariables } from "./loadedVariables";
import { findPythons, openedFolders, type Search } from "./pythons";
import { importStrategy, serverCommand } from "./settings";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that differ from those of the editor. */
  readonly env: Readonly<Record<string, string>>;
}

/** The command that starts the server, or the search for a Python that found none. */
export async function resolveLaunch(extensionPath: string): Promise<Launch | Search> {
  const [command, ...args] = serverCommand() ?? [];
  if (command) {
    return { command, args, env: {} };
  }
  const search = await findPythons(extensionPath);
  if (!search.found) {
    return search;
  }
  const script = path.join(extensionPath, "bundled", "tool", "lsp_server.py");
  return { command: search.found.python, args: [script, importStrategy(), "serve"], env: startVariables(process.env, openedFolders()) };
}

/** Why no server starts, in one sentence for the status bar item. */
export function explainMissingPython({ tried }: Search): string {
  const [only] = tried;
  if (only && tried.length === 1) {
    return `${only.python}: ${only.problem ?? "It cannot run the server."}`;
  }
  return "No Python 3.10 or later was found to run Compile Lens.";
}

/** Why the server ended while it started. */
export function explainFailure(launch: Launch, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `The language server did not start (${[launch.command, ...launch.args].join(" ")}): ${reason}`;
}
