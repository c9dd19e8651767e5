// Commands for repros and for logs. The server does the work; the client picks the file and opens the terminal.
import * as vscode from "vscode";

import { label } from "./notices";
import { serverCommands } from "./protocol";
import type { Server } from "./server";

export const searchCommands = {
  bisectRepro: "compileLens.bisectRepro",
  verifyRepro: "compileLens.verifyRepro",
  minifyRepro: "compileLens.minifyRepro",
  runWithLogs: "compileLens.runWithLogs",
} as const;

interface LogRun {
  readonly title: string;
  readonly line: string;
  readonly shows: string;
}

function activeFile(resource: unknown): string | undefined {
  const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === "file" ? uri.toString() : undefined;
}

/** Asks which of the logs for the file's findings to show, and puts the command into a terminal. */
async function runWithLogs(server: Server, resource: unknown): Promise<void> {
  const runs = await server.execute<readonly LogRun[] | null>(serverCommands.logs, activeFile(resource));
  if (!runs) {
    return;
  }
  const picked = await vscode.window.showQuickPick(
    runs.map((run) => ({ label: label(run.title), description: label(run.line), detail: label(`Shows ${run.shows}.`), run })),
    { title: "Run with Logs in a Terminal", matchOnDescription: true },
  );
  if (picked) {
    const terminal = vscode.window.createTerminal("Compile Lens");
    terminal.show();
    terminal.sendText(picked.run.line, false); // the user reads it and presses Enter
  }
}

export function registerSearches(server: Server): vscode.Disposable {
  const { registerCommand } = vscode.commands;
  return vscode.Disposable.from(
    registerCommand(searchCommands.bisectRepro, (resource: unknown) => server.execute(serverCommands.bisect, activeFile(resource))),
    registerCommand(searchCommands.verifyRepro, (resource: unknown) => server.execute(serverCommands.verifyBisection, activeFile(resource))),
    registerCommand(searchCommands.minifyRepro, (resource: unknown) => server.execute(serverCommands.minify, activeFile(resource))),
    registerCommand(searchCommands.runWithLogs, (resource: unknown) => runWithLogs(server, resource)),
  );
}
