// The example programs and the walkthrough. The examples are copied, so that they can be run and changed.
import * as vscode from "vscode";

export const exampleCommands = {
  openExamples: "compileLens.openExamples",
  openWalkthrough: "compileLens.openWalkthrough",
} as const;

const folderName = "compile-lens-examples";
const firstFile = "transformer_block.py";
const walkthrough = "compile-lens.compile-lens#start";

/** Copies the examples to a folder below the one that the user chooses, and opens it. */
async function openExamples(extension: vscode.Uri): Promise<void> {
  const picked = await vscode.window.showOpenDialog({
    title: `Choose a Folder for ${folderName}`,
    openLabel: "Copy Examples Here",
    canSelectFiles: false,
    canSelectFolders: true,
  });
  const parent = picked?.[0];
  if (!parent) {
    return;
  }
  const folder = vscode.Uri.joinPath(parent, folderName);
  await copyMissing(vscode.Uri.joinPath(extension, "examples"), folder);
  const isOpen = vscode.workspace.getWorkspaceFolder(folder) !== undefined;
  if (isOpen) {
    await vscode.window.showTextDocument(vscode.Uri.joinPath(folder, firstFile));
  } else {
    const forceNewWindow = vscode.workspace.workspaceFolders !== undefined;
    await vscode.commands.executeCommand("vscode.openFolder", folder, { forceNewWindow });
  }
}

/** Copies each file that is not there yet: what the user has changed stays. */
async function copyMissing(from: vscode.Uri, to: vscode.Uri): Promise<void> {
  await vscode.workspace.fs.createDirectory(to);
  const there = new Set((await vscode.workspace.fs.readDirectory(to)).map(([name]) => name));
  for (const [name] of await vscode.workspace.fs.readDirectory(from)) {
    if (!there.has(name)) {
      await vscode.workspace.fs.copy(vscode.Uri.joinPath(from, name), vscode.Uri.joinPath(to, name));
    }
  }
}

export function registerExamples(extension: vscode.Uri): vscode.Disposable {
  const { registerCommand, executeCommand } = vscode.commands;
  return vscode.Disposable.from(
    registerCommand(exampleCommands.openExamples, () => openExamples(extension)),
    registerCommand(exampleCommands.openWalkthrough, () => executeCommand("workbench.action.openWalkthrough", walkthrough, false)),
  );
}
