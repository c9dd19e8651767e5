// The commands of the palette, the editor title and the status bar item.
import * as vscode from "vscode";

import { chooseEntry } from "./entries";
import { isWorking, serverCommands, type ServerCommand } from "./protocol";
import type { Server } from "./server";

export const localCommands = {
  analyzeFile: "compileLens.analyzeFile",
  compareFile: "compileLens.compareFile",
  varyFile: "compileLens.varyFile",
  analyzeFileWithoutSandbox: "compileLens.analyzeFileWithoutSandbox",
  cancelAnalysis: "compileLens.cancelAnalysis",
  restartServer: "compileLens.restartServer",
  showLog: "compileLens.showLog",
  allowRuns: "compileLens.allowRuns",
  useGpuInRuns: "compileLens.useGpuInRuns",
  leaveGpuInRuns: "compileLens.leaveGpuInRuns",
  revokeRuns: "compileLens.revokeRuns",
  manageRuns: "compileLens.manageRuns",
  showActions: "compileLens.showActions",
  checkSetup: "compileLens.checkSetup",
  selectEntry: "compileLens.selectEntry",
} as const;

/** Runs a server command for `resource` (given by a menu), or for the file in the active editor. */
async function forFile(server: Server, command: ServerCommand, resource: unknown): Promise<void> {
  const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
  if (uri) {
    await server.execute(command, uri.toString());
  }
}

/** Shows the page of `compile-lens doctor` for the interpreter of the file in the active editor. */
async function checkSetup(server: Server): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const page = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: "Compile Lens: checking the setup" },
    () => server.execute<{ readonly markdown: string } | null>(serverCommands.doctor, uri?.scheme === "file" ? uri.toString() : undefined),
  );
  if (page) {
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content: page.markdown });
    await vscode.commands.executeCommand("markdown.showPreview", document.uri);
  }
}

/** Lists the workspaces that are allowed to run in the background, and revokes the one that is picked. */
async function manageRuns(server: Server): Promise<void> {
  const allowed = (await server.execute<readonly string[]>(serverCommands.allowedWorkspaces)) ?? [];
  const items = allowed.map((uri) => ({ label: vscode.Uri.parse(uri).fsPath, uri }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage("Compile Lens: no workspace is allowed to run files in the background.");
    return;
  }
  const picked = await vscode.window.showQuickPick(items, {
    title: "Manage Workspaces Allowed to Run in the Background",
    placeHolder: "Choose a workspace to revoke its permission",
  });
  if (picked) {
    await server.execute(serverCommands.revokeWorkspace, picked.uri);
  }
}

async function showActions(server: Server): Promise<void> {
  interface Action extends vscode.QuickPickItem {
    readonly command: string;
  }
  const trust: Action = { label: "$(shield) Manage Workspace Trust", command: "workbench.trust.manage" };
  const cancel: Action = { label: "$(debug-stop) Cancel Analysis", command: localCommands.cancelAnalysis };
  const analyze: Action = { label: "$(telescope) Analyze Current File", command: localCommands.analyzeFile };
  const allow: Action = { label: "$(check) Allow Background Runs in This Workspace", command: localCommands.allowRuns };
  const always: Action[] = [
    { label: "$(debug-restart) Restart Server", command: localCommands.restartServer },
    { label: "$(pulse) Check Setup", command: localCommands.checkSetup },
    { label: "$(output) Show Log", command: localCommands.showLog },
  ];
  const first = (): Action[] => {
    if (!vscode.workspace.isTrusted) {
      return [trust];
    }
    if (!server.running) {
      return [];
    }
    if (isWorking(server.status)) {
      return [cancel];
    }
    return server.status.state === "off" ? [allow, analyze] : [analyze];
  };
  const picked = await vscode.window.showQuickPick([...first(), ...always], { title: "Compile Lens" });
  if (picked) {
    await vscode.commands.executeCommand(picked.command);
  }
}

export function registerCommands(server: Server, log: vscode.LogOutputChannel): vscode.Disposable {
  const { registerCommand } = vscode.commands;
  return vscode.Disposable.from(
    registerCommand(localCommands.analyzeFile, (resource: unknown) => forFile(server, serverCommands.analyze, resource)),
    registerCommand(localCommands.compareFile, (resource: unknown) => forFile(server, serverCommands.compare, resource)),
    registerCommand(localCommands.varyFile, (resource: unknown) => forFile(server, serverCommands.vary, resource)),
    registerCommand(localCommands.analyzeFileWithoutSandbox, (resource: unknown) =>
      forFile(server, serverCommands.analyzeWithoutSandbox, resource),
    ),
    registerCommand(localCommands.cancelAnalysis, () => server.execute(serverCommands.cancel)),
    registerCommand(localCommands.restartServer, () => server.restart()),
    registerCommand(localCommands.showLog, () => log.show()),
    registerCommand(localCommands.allowRuns, () => server.execute(serverCommands.allowWorkspace)),
    registerCommand(localCommands.useGpuInRuns, () => server.execute(serverCommands.useGpu)),
    registerCommand(localCommands.leaveGpuInRuns, () => server.execute(serverCommands.leaveGpu)),
    registerCommand(localCommands.revokeRuns, () => server.execute(serverCommands.revokeWorkspace)),
    registerCommand(localCommands.manageRuns, () => manageRuns(server)),
    registerCommand(localCommands.checkSetup, () => checkSetup(server)),
    registerCommand(localCommands.selectEntry, () => {
      const uri = vscode.window.activeTextEditor?.document.uri;
      return uri?.scheme === "file" ? chooseEntry(server, uri.toString()) : undefined;
    }),
    registerCommand(localCommands.showActions, () => showActions(server)),
  );
}
