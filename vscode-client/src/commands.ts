// The commands of the palette, the editor title and the status bar item.
import * as vscode from "vscode";

import { chooseEntry } from "./entries";
import { label } from "./notices";
import type { Pages } from "./pages";
import { isWorking, serverCommands, type ServerCommand } from "./protocol";
import { findPythons } from "./pythons";
import type { Server } from "./server";
import { selectInterpreter, setupPage, type SetupActions } from "./setup";
import { followTraces, openTrace, runAndFollow } from "./traces";

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
  fixFile: "compileLens.fixFile",
  showFixChoices: "compileLens.showFixChoices",
  clearFixChoices: "compileLens.clearFixChoices",
  selectEntry: "compileLens.selectEntry",
  selectInterpreter: "compileLens.selectInterpreter",
  explainBackgroundRuns: "compileLens.explainBackgroundRuns",
  openCompileTrace: "compileLens.openCompileTrace",
  closeCompileTraces: "compileLens.closeCompileTraces",
  followCompileTraces: "compileLens.followCompileTraces",
  stopFollowing: "compileLens.stopFollowing",
  runFileAndFollow: "compileLens.runFileAndFollow",
} as const;

/** Runs a server command for `resource` (given by a menu), or for the file in the active editor. */
async function forFile(server: Server, command: ServerCommand, resource: unknown): Promise<void> {
  const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
  if (uri) {
    await server.execute(command, uri.toString());
  }
}

/** What helps where no Python can run the server. None of it needs the server. */
export function setupActions(server: Server, pages: Pages, extension: vscode.Extension<unknown>): SetupActions {
  return {
    selectInterpreter: () => selectInterpreter(extension.extensionPath),
    checkSetup: async () => {
      if (server.running) {
        return checkSetup(server, pages);
      }
      const { version } = extension.packageJSON as { readonly version: string };
      const search = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Window, title: "Compile Lens: checking the setup" },
        () => findPythons(extension.extensionPath, true),
      );
      return pages.show("Compile Lens setup", setupPage(search, server.status.message, version));
    },
  };
}

/** Shows the page of `compile-lens doctor` for the interpreter of the file in the active editor. */
async function checkSetup(server: Server, pages: Pages): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const page = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: "Compile Lens: checking the setup" },
    () => server.execute<{ readonly markdown: string } | null>(serverCommands.doctor, uri?.scheme === "file" ? uri.toString() : undefined),
  );
  if (page) {
    await pages.show("Compile Lens setup", page.markdown);
  }
}

/** Lists the workspaces that are allowed to run in the background, and revokes the one that is picked. */
async function manageRuns(server: Server): Promise<void> {
  const allowed = (await server.execute<readonly string[]>(serverCommands.allowedWorkspaces)) ?? [];
  const items = allowed.map((uri) => ({ label: label(vscode.Uri.parse(uri).fsPath), uri }));
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
  const explain: Action = { label: "$(question) What Do Background Runs Do?", command: localCommands.explainBackgroundRuns };
  const always: Action[] = [
    { label: "$(settings-gear) Select Interpreter", command: localCommands.selectInterpreter },
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
    return server.waitsForConsent ? [allow, analyze, explain] : server.status.state === "off" ? [allow, analyze] : [analyze];
  };
  const picked = await vscode.window.showQuickPick([...first(), ...always], { title: "Compile Lens" });
  if (picked) {
    await vscode.commands.executeCommand(picked.command);
  }
}

export function registerCommands(server: Server, log: vscode.LogOutputChannel, setup: SetupActions): vscode.Disposable {
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
    registerCommand(localCommands.checkSetup, () => setup.checkSetup()),
    registerCommand(localCommands.fixFile, (resource: unknown) => forFile(server, serverCommands.fixAll, resource)),
    registerCommand(localCommands.showFixChoices, () => server.execute(serverCommands.fixChoices)),
    registerCommand(localCommands.clearFixChoices, () => server.execute(serverCommands.forgetFixChoices)),
    registerCommand(localCommands.selectInterpreter, () => setup.selectInterpreter()),
    registerCommand(localCommands.explainBackgroundRuns, () => server.execute(serverCommands.explainRuns)),
    registerCommand(localCommands.openCompileTrace, (resource: unknown) => openTrace(server, resource)),
    registerCommand(localCommands.closeCompileTraces, () => server.execute(serverCommands.closeTraces)),
    registerCommand(localCommands.followCompileTraces, (resource: unknown) => followTraces(server, resource)),
    registerCommand(localCommands.stopFollowing, () => server.execute(serverCommands.stopFollowingTraces)),
    registerCommand(localCommands.runFileAndFollow, (resource: unknown) => runAndFollow(server, resource)),
    registerCommand(localCommands.selectEntry, () => {
      const uri = vscode.window.activeTextEditor?.document.uri;
      return uri?.scheme === "file" ? chooseEntry(server, uri.toString()) : undefined;
    }),
    registerCommand(localCommands.showActions, () => showActions(server)),
  );
}
