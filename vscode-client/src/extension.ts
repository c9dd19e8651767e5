// Activates the extension and connects its parts. The server does the analysis.
import * as vscode from "vscode";

import { registerCommands } from "./commands";
import { onInterpreterChange } from "./interpreter";
import { Pages } from "./pages";
import { registerSearches } from "./searches";
import { Server } from "./server";
import { section } from "./settings";
import { StatusItem } from "./status";
import { followTrust } from "./trust";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Compile Lens", { log: true });
  const started = new Server(context.extensionPath, log);
  server = started;
  const pages = new Pages();

  const followInterpreter = async (): Promise<void> => {
    const subscription = await onInterpreterChange(() => void started.settingsChanged());
    if (subscription) {
      context.subscriptions.push(subscription);
    }
  };
  context.subscriptions.push(
    log,
    started,
    new StatusItem(started),
    registerCommands(started, log),
    registerSearches(started),
    pages,
    started.onPage(({ title, markdown }) => void pages.show(title, markdown)),
    followTrust(started),
    vscode.workspace.onDidGrantWorkspaceTrust(followInterpreter),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration(section)) {
        await started.settingsChanged();
      }
    }),
  );
  void followInterpreter();
  void started.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
